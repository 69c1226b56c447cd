import { describe, expect, test } from "vitest";
import { parseComputeApps } from "../../src/text/nvidia-smi-compute-apps.js";
import { parseSmiList } from "../../src/text/nvidia-smi-list.js";
import { parseSmiNvlink, sumLinks } from "../../src/text/nvidia-smi-nvlink.js";
import { parseSmiTopo } from "../../src/text/nvidia-smi-topo.js";
import { smiFixture } from "./nvidia-smi-fixtures.js";

const uuid = (n: number): string => `GPU-aaaaaaaa-0000-4000-8000-00000000000${n}`;

describe("-L", () => {
  test("GPUs with MIG devices, names with brackets, a lost GPU between", () => {
    expect(parseSmiList(smiFixture("590.48.01/list-mig.txt"))).toEqual([
      {
        index: 0,
        name: "NVIDIA A100 (test (1))",
        uuid: uuid(0),
        mig: [
          { device: 0, profile: "3g.40gb", uuid: "MIG-bbbbbbbb-0000-5000-8000-000000000000" },
          { device: 1, profile: "1g.10gb+me", uuid: "MIG-bbbbbbbb-0000-5000-8000-000000000001" },
        ],
      },
      { index: 2, name: "Tesla T4", uuid: uuid(2), mig: [] },
    ]);
  });

  test("the old form of a MIG uuid", () => {
    expect(parseSmiList(smiFixture("470.82.01/list-mig.txt"))[0]?.mig).toEqual([
      { device: 0, profile: "1g.5gb", uuid: `MIG-${uuid(0)}/7/0` },
    ]);
  });

  test("an error text lists no GPU", () => {
    expect(parseSmiList(smiFixture("messages/no-driver.txt"))).toEqual([]);
  });
});

describe("nvlink", () => {
  test("speeds, an inactive link, a GPU in MIG mode", () => {
    const [first, second] = parseSmiNvlink(smiFixture("590.48.01/nvlink-s.txt"));
    expect(first?.links.map((l) => [l.link, l.speedBytesPerS, l.active])).toEqual([
      [0, 26.562e9, true],
      [1, 26.562e9, true],
      [2, null, false],
    ]);
    expect(second).toEqual({ index: 1, uuid: uuid(1), links: [], message: "Nvlink queries are not supported for Devices in MIG mode" });
  });

  test("KiB counters, summed only if every link has one", () => {
    const [gpu] = parseSmiNvlink(smiFixture("590.48.01/nvlink-gt-d.txt"));
    expect(sumLinks(gpu?.links ?? [], "txBytes")).toBe((1000 + 14984231343) * 1024);
    expect(sumLinks(gpu?.links ?? [], "rxBytes")).toBe(2005 * 1024);
    const [old] = parseSmiNvlink(smiFixture("470.82.01/nvlink-g-0.txt"));
    expect(old?.links.map((l) => [l.txBytes, l.rxBytes])).toEqual([
      [1024e6, 2048e6],
      [null, 3072],
    ]);
    expect(sumLinks(old?.links ?? [], "txBytes")).toBeNull();
    expect(sumLinks([], "txBytes")).toBeNull();
  });

  test("a number without KiB is no byte count", () => {
    expect(parseSmiNvlink(`GPU 0: X (UUID: GPU-1)\n\t Link 0: Data Tx: 5 GiB`)[0]?.links[0]?.txBytes).toBeNull();
  });
});

describe("topo -m", () => {
  test("escape codes, the empty cell before the NUMA id, short NIC rows, the NIC legend", () => {
    expect(parseSmiTopo(smiFixture("590.48.01/topo-m.txt"))).toEqual({
      rows: [
        { name: "GPU0", connections: { GPU1: "NV18", NIC0: "PIX" }, cpuAffinity: "0-31,64-95", numaAffinity: "0" },
        { name: "GPU1", connections: { GPU0: "NV18", NIC0: "SYS" }, cpuAffinity: "32-63,96-127", numaAffinity: "1" },
        { name: "NIC0", connections: { GPU0: "PIX", GPU1: "SYS" }, cpuAffinity: null, numaAffinity: null },
      ],
      nics: { NIC0: "mlx5_0" },
    });
  });

  test("no matrix", () => {
    expect(parseSmiTopo(smiFixture("messages/no-devices.txt"))).toEqual({ rows: [], nics: {} });
  });
});

describe("--query-compute-apps", () => {
  test("a comma in a path, a missing size, a row without a pid", () => {
    expect(parseComputeApps(smiFixture("590.48.01/compute-apps.csv"))).toEqual({
      apps: [
        { uuid: uuid(0), pid: 4242, name: "/usr/bin/python3", usedBytes: 60000 * 1024 * 1024 },
        { uuid: uuid(1), pid: 4243, name: "/opt/a, b/serve", usedBytes: null },
      ],
      answered: true,
      rejected: 1,
    });
  });

  test("a header alone is no process; nothing at all is not an answer", () => {
    expect(parseComputeApps("gpu_uuid, pid, process_name, used_gpu_memory [MiB]\n")).toEqual({ apps: [], answered: true, rejected: 0 });
    expect(parseComputeApps("")).toEqual({ apps: [], answered: false, rejected: 0 });
  });
});
