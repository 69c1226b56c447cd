import { describe, expect, it } from "vitest";
import { nvidiaSmiDmon } from "../../collectors/nvidia-smi-dmon.js";
import { nvidiaSmiQuery } from "../../collectors/nvidia-smi-query.js";
import { defaultDecisionTable } from "../../schemas/decision-table.js";
import { SMI_QUERY } from "../../schemas/maps/nvidia-smi.js";
import { diagnose } from "../../src/diagnose/diagnose.js";
import { createSmiCsvReader } from "../../src/text/nvidia-smi-csv.js";
import { createCycleGrouper } from "../../src/text/nvidia-smi-cycles.js";
import { createDmonReader } from "../../src/text/nvidia-smi-dmon.js";
import { classifySmiEnd } from "../../src/text/nvidia-smi-errors.js";
import { readGpuRow, type SmiGpuRow } from "../../src/text/nvidia-smi-gpu-row.js";
import { parseSmiNvlink, sumLinks } from "../../src/text/nvidia-smi-nvlink.js";
import { createRowClock } from "../../src/text/nvidia-smi-stamp.js";
import { parseSmiTopo } from "../../src/text/nvidia-smi-topo.js";
import { parseSmiXml } from "../../src/text/nvidia-smi-xml.js";
import { collect, fakeContext, linesOf, START_US } from "../collectors/nvidia-smi-context.js";
import { CLEAR, syntheticRun } from "../diagnose/synthetic-run.js";

const S = 1_000_000;
const help = SMI_QUERY.map((names) => `"${names[0]}"`).join("\n");
const HEADER = "timestamp, index, uuid, utilization.gpu [%], temperature.gpu, memory.used [MiB], power.draw [W]";

const rows = (...lines: string[]): SmiGpuRow[] => {
  const reader = createSmiCsvReader();
  return lines.flatMap((line) => {
    const event = reader.push(line);
    return event.kind === "row" ? [readGpuRow(event.row)] : [];
  });
};

async function query(text: string, options: Partial<Parameters<typeof fakeContext>[0]> = {}) {
  const lines = linesOf(text, (i) => START_US + i * S);
  const { ctx, calls } = fakeContext({ run: () => help, streams: [{ lines }], ...options });
  const { readings, emit } = collect();
  const failure = await nvidiaSmiQuery.stream(ctx, emit).catch((error: unknown) => String(error));
  return { readings, calls, failure, samples: readings.flatMap((r) => r.samples) };
}

describe("traps of nvidia-smi", () => {
  it("trap gpu-telemetry 17: a GPU that requires a reset is a fault, and its 0 MiB is unknown", () => {
    const [row] = rows(HEADER, "2026/05/04 10:00:00.000, 0, GPU-a, [GPU requires reset], [GPU requires reset], 0 MiB, 60.00 W");
    expect([row!.fault, row!.values]).toEqual(["requires_reset", {}]);
  });

  it("trap gpu-telemetry 18: [N/A] beside 434 W is missing, not idle", () => {
    const [row] = rows(HEADER, "2026/05/04 10:00:00.000, 0, GPU-a, [N/A], 50, 11125 MiB, 434.00 W");
    expect(row!.values).toEqual({ temp_c: 50, fb_used_bytes: 11125 * 2 ** 20, power_w: 434 });
    expect(row!.fault).toBeNull();
  });

  it("trap gpu-telemetry 19: a field that the driver does not know is left out, and the rest asked again", async () => {
    const refusal = linesOf('Field "power.draw.instant" is not a valid field to query.\n\n', () => START_US);
    const good = linesOf(`${HEADER}\n2026/05/04 10:00:00.000, 0, GPU-a, 7 %, 50, 1 MiB, 60.00 W\n`, () => START_US + S);
    const { calls, samples } = await query("", { streams: [{ lines: refusal, end: { exitCode: 2 }, stays: true }, { lines: good }] });
    expect(calls.filter((c) => c.includes("--query-gpu=")).map((c) => c.includes("power.draw.instant"))).toEqual([true, false]);
    expect(samples).toHaveLength(1);
  });

  it("trap gpu-telemetry 20: an error is told by its text, also with status 0; rows beside status 14 or 15 are kept", async () => {
    const text = "Failed to initialize NVML: Driver/library version mismatch";
    expect(classifySmiEnd({ stdout: text, stderr: "", exitCode: 0, timedOut: false, notFound: false })[0]!.state).toBe("version_mismatch");
    const page = `${HEADER}\n2026/05/04 10:00:00.000, 0, GPU-a, 7 %, 50, 1 MiB, 60.00 W\nWARNING: infoROM is corrupted at gpu 0000:3B:00.0\n`;
    const { samples, readings } = await query(page, {
      streams: [{ lines: linesOf(page, (i) => START_US + i * S), end: { exitCode: 14 } }],
    });
    expect(samples.map((s) => s.values.gpu_util_ratio)).toEqual([0.07]);
    expect(readings.flatMap((r) => r.marks ?? [])).toMatchObject([{ kind: "gpu_fault" }]);
  });

  it("trap gpu-telemetry 21: GPUs in another order each cycle are grouped by who they are; half a cycle is kept", () => {
    const grouper = createCycleGrouper<string>(5 * S);
    const push = (key: string, ms: number) => grouper.push(key, ms * 1000, `${key}@${ms}`);
    const cycles = [
      push("3B", 177),
      push("8B", 188),
      push("0B", 192),
      push("8B", 10_309),
      push("0B", 10_311),
      push("3B", 10_311),
      push("8B", 20_361),
    ].flat();
    expect(cycles).toEqual([
      ["3B@177", "8B@188", "0B@192"],
      ["8B@10309", "0B@10311", "3B@10311"],
    ]);
    expect(grouper.flush()).toEqual(["8B@20361"]);
  });

  it("trap gpu-telemetry 22: stamps that jump by an hour, or are of another zone, do not move the time of record", () => {
    const clock = createRowClock({ started_us: START_US, tolerance_us: 2 * S });
    const hour = 3600 * S;
    const stamps = [0, 1, 2].map((i) => START_US + 2 * hour + i * S).concat([3, 4].map((i) => START_US + hour + i * S));
    expect(stamps.map((stamp, i) => clock.place(START_US + i * S + 1000, stamp).ts_us)).toEqual(
      [0, 1, 2, 3, 4].map((i) => START_US + i * S + 1000),
    );
  });

  it("trap gpu-telemetry 23: rows that arrive in one burst keep their own spacing", async () => {
    const burst = Array.from(
      { length: 20 },
      (_, i) => `2026/05/04 10:00:${String(i).padStart(2, "0")}.000, 0, GPU-a, ${i} %, 50, 1 MiB, 60.00 W`,
    );
    const lines = linesOf(`${[HEADER, ...burst].join("\n")}\n`, () => START_US + 20 * S);
    const { samples, readings } = await query("", { streams: [{ lines, stays: true }, { lines: [] }] });
    const spacing = samples.slice(1, 8).map((s, i) => s.ts_us - samples[i]!.ts_us);
    expect(new Set(spacing)).toEqual(new Set([S]));
    expect(readings[0]!.notice).toMatch(/arrives 20\.0 s late/);
  });

  it("trap gpu-telemetry 24: dmon's columns go by name; repeated headers, dashes and cut rows cost nothing else", () => {
    const reader = createDmonReader();
    const text = [
      "#Time         gpu  rxpci  txpci    pwr     sm",
      "#HH:MM:SS     Idx   MB/s   MB/s      W      %",
      " 04:12:44       0    248     34    130     66",
      "#Time         gpu  rxpci  txpci    pwr     sm",
      "#HH:MM:SS     Idx   MB/s   MB/s      W      %",
      " 04:12:45       0    248     34    131      \u2013",
      " 04:12:46       0    24",
    ];
    const events = text.map((line) => reader.push(line));
    expect(events.flatMap((e) => (e.kind === "row" ? [e.row.values] : []))).toEqual([
      { power_w: 130, gpu_util_ratio: 0.66, pcie_rx_bytes_per_s: 248 * 2 ** 20, pcie_tx_bytes_per_s: 34 * 2 ** 20 },
      { power_w: 131, pcie_rx_bytes_per_s: 248 * 2 ** 20, pcie_tx_bytes_per_s: 34 * 2 ** 20 },
    ]);
    expect(events.at(-1)).toEqual({ kind: "rejected", reason: "cell_count" });
  });

  it("trap gpu-telemetry 25: GPM that is empty at first is waited for; empty for five rows it is not there", async () => {
    const header = "# gpu    pwr      gract     smutil \n# Idx      W      GPM:%      GPM:% \n";
    const list = "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-a)\n";
    const run = async (cells: readonly string[]) => {
      const text = header + cells.map((cell) => `    0    360          ${cell}          ${cell}\n`).join("");
      const { ctx, calls } = fakeContext({ run: () => list, streams: [{ lines: linesOf(text, (i) => START_US + i * S) }, { lines: [] }] });
      const { readings, emit } = collect();
      await nvidiaSmiDmon.stream(ctx, emit).catch(() => undefined);
      return { calls, samples: readings.flatMap((r) => r.samples) };
    };
    const hopper = await run(["-", "-", "40", "41"]);
    expect(hopper.samples.map((s) => s.values.sm_active_ratio)).toEqual([0.4, 0.41]);
    expect(hopper.calls.filter((c) => c.includes("dmon"))).toHaveLength(1);
    const ampere = await run(["-", "-", "-", "-", "-", "-"]);
    expect(ampere.samples).toEqual([]);
    expect(ampere.calls.filter((c) => c.includes("dmon")).at(-1)).toContain("-s t");
  });

  it("trap gpu-telemetry 26: topo -m with escape codes and short rows", () => {
    const esc = String.fromCharCode(27);
    const text = `\t${esc}[4mGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity${esc}[0m\nGPU0\t X \tNV18\tPIX\t0-31,64-95\t0\nGPU1\tNV18\t X \tSYS\t32-63\t1\nNIC0\tPIX\tSYS\t X \n`;
    expect(parseSmiTopo(text).rows.map((r) => [r.name, r.connections, r.cpuAffinity])).toEqual([
      ["GPU0", { GPU1: "NV18", NIC0: "PIX" }, "0-31,64-95"],
      ["GPU1", { GPU0: "NV18", NIC0: "SYS" }, "32-63"],
      ["NIC0", { GPU0: "PIX", GPU1: "SYS" }, null],
    ]);
  });

  it("trap gpu-telemetry 27: NVLink counters without a number are missing, and so is a sum with one of them", () => {
    const page = (rx: string) =>
      `GPU 0: NVIDIA H100 (UUID: GPU-a)\n\t Link 0: Data Tx: 10 KiB\n\t Link 0: Data Rx: ${rx}\n\t Link 1: Data Tx: 20 KiB\n\t Link 1: Data Rx: 5 KiB\n`;
    const links = parseSmiNvlink(page("N/A"))[0]!.links;
    expect([links[0]!.rxBytes, sumLinks(links, "txBytes"), sumLinks(links, "rxBytes")]).toEqual([null, 30 * 1024, null]);
    const mig = parseSmiNvlink("GPU 0: NVIDIA H100 (UUID: GPU-a)\nNvlink queries are not supported for Devices in MIG mode\n");
    expect([mig[0]!.links, sumLinks(mig[0]!.links, "txBytes")]).toEqual([[], null]);
  });

  it("trap gpu-telemetry 28: XML without DOCTYPE, with deprecated leaves and N/A beside a good draw", () => {
    const xml = `<?xml version="1.0" ?>\n<nvidia_smi_log><timestamp>Fri Apr 10 10:23:01 2026</timestamp><driver_version>580.1</driver_version><gpu id="00000000:3B:00.0"><product_name>NVIDIA X</product_name><uuid>GPU-a</uuid><remapped_rows>N/A</remapped_rows><clocks><applications_clocks>Requested functionality has been deprecated</applications_clocks></clocks><gpu_power_readings><power_draw>N/A</power_draw><instant_power_draw> 66.84 W </instant_power_draw></gpu_power_readings></gpu></nvidia_smi_log>`;
    const log = parseSmiXml(xml)!;
    expect(log.gpus).toHaveLength(1);
    expect(Object.values(log.gpus[0]!.values)).toContain(66.84);
  });

  it("trap gpu-telemetry 30: a PCIe link of generation 1 on an idle GPU is no fault", () => {
    const fault = CLEAR.compute!.faults![0]!;
    const idle = { pcie_link_gen: 1, pcie_link_gen_max: 5, pcie_link_width: 16, pcie_link_width_max: 16 };
    const run = syntheticRun({ faults: [fault] });
    const gpu = run.telemetry.tracks.find((t) => t.entity.kind === "gpu")!;
    const columns = Object.fromEntries(Object.entries(idle).map(([name, value]) => [name, gpu.ts_us.map(() => value)]));
    const withLink = {
      ...run,
      telemetry: {
        ...run.telemetry,
        tracks: run.telemetry.tracks.map((t) => (t === gpu ? { ...t, columns: { ...t.columns, ...columns } } : t)),
      },
    };
    const episode = [...diagnose(withLink, defaultDecisionTable()).episodes].sort((a, b) => b.requests - a.requests)[0]!;
    expect(episode.class).toBe("compute");
  });
});
