import { type CollectorContext, defineCollector, type Reading } from "../schemas/collector.js";
import { SMI_GPM_METRICS, SMI_GPM_QUERY } from "../schemas/maps/nvidia-smi.js";
import type { Sample } from "../schemas/samples.js";
import { createDmonReader, type SmiDmonRow } from "../src/text/nvidia-smi-dmon.js";
import type { SmiListedGpu } from "../src/text/nvidia-smi-list.js";
import { addRefused, refuse } from "../src/text/nvidia-smi-values.js";
import { detectGpus, listGpus, problemText } from "./parts/nvidia-smi-detect.js";
import { gpuEntity } from "./parts/nvidia-smi-entity.js";
import { followSmi, type SmiLoop } from "./parts/nvidia-smi-follow.js";

/** GPM needs two snapshots, so the first rows are empty everywhere; after this many it is clear that the GPU has none. */
const EMPTY_BEFORE_UNSUPPORTED = 5;

/** Levels come from nvidia-smi-query; only what that cannot give is read here. */
const COLUMNS: ReadonlySet<string> = new Set(SMI_GPM_METRICS.filter((m) => SMI_GPM_QUERY.includes(m.id)).map((m) => m.column));

const SAMPLED = "no GPM on these GPUs: PCIe rates are 20 ms samples; tensor, DRAM and NVLink activity need dcgm-exporter";

/** True from the cycle on in which every GPU seen has shown nothing but empty GPM cells often enough. */
const createGpmWatch = () => {
  const empty = new Map<number, number>();
  return (rows: readonly SmiDmonRow[]): boolean => {
    for (const row of rows) empty.set(row.index, row.gpm === "some" ? -Infinity : (empty.get(row.index) ?? 0) + 1);
    return [...empty.values()].every((times) => times >= EMPTY_BEFORE_UNSUPPORTED);
  };
};

const loopOf = (ctx: CollectorContext, gpus: readonly SmiListedGpu[], gpm: boolean): SmiLoop<SmiDmonRow> => {
  const seconds = Math.max(1, Math.round(ctx.interval_ms / 1000));
  const what = gpm ? [`--gpm-metrics=${SMI_GPM_QUERY.join(",")}`] : ["-s", "t"];
  const byIndex = new Map(gpus.map((gpu) => [gpu.index, gpu]));
  const hasNoGpm = createGpmWatch();
  return {
    args: ["dmon", ...what, "-d", String(seconds), "-o", "DT"],
    interval_ms: seconds * 1000,
    resolution_us: 1_000_000,
    createReader: () => createDmonReader({ columns: COLUMNS, ...(gpm ? { gpmIds: SMI_GPM_QUERY } : {}) }),
    key: (row) => String(row.index),
    stamp_us: (row) => row.stamp_us,
    cycle(rows) {
      const rejected: Record<string, number> = {};
      const samples: Sample[] = [];
      for (const { row, ts_us, epoch } of rows) {
        addRefused(rejected, row.refused);
        const gpu = byIndex.get(row.index);
        if (gpu === undefined) refuse(rejected, "unknown_gpu");
        else if (Object.keys(row.values).length > 0) {
          const entity = gpuEntity(ctx.node, gpu.uuid, { index: String(gpu.index), model: gpu.name });
          samples.push({ entity, ts_us, epoch, values: row.values });
        }
      }
      const reading: Reading = { samples, rejected, notice: gpm ? null : SAMPLED };
      return gpm && hasNoGpm(rows.map(({ row }) => row)) ? { reading, stop: "no GPM" } : { reading };
    },
  };
};

/** SM, tensor, DRAM, PCIe and NVLink activity without DCGM: `nvidia-smi dmon --gpm-metrics` (Hopper and later), else PCIe alone. */
export const nvidiaSmiDmon = defineCollector({
  name: "nvidia-smi-dmon",
  kinds: ["gpu"],
  mode: "stream",
  default_interval_ms: 1000,
  default_timeout_ms: 5000,
  window_ms: null,
  lag_ms: 0,
  silent_after_intervals: 10,
  async detect(ctx) {
    const { found, text, mend } = await detectGpus(ctx);
    return { found, text, ...(mend === undefined ? {} : { mend }) };
  },
  async stream(ctx, emit) {
    // dmon names a GPU by its index alone, and an index may be another GPU after a reboot: joined anew at every start.
    const { gpus, problems } = await listGpus(ctx);
    if (ctx.signal.aborted) return;
    if (gpus.length === 0) throw new Error(problems[0] ? problemText(problems[0]) : "nvidia-smi lists no GPU");
    for (const gpm of [true, false]) {
      const end = await followSmi(ctx, loopOf(ctx, gpus, gpm), emit);
      if (end.kind === "aborted" || end.kind === "ended") return;
      if (end.kind === "problem" && !(gpm && end.problem.scope === "option")) throw new Error(problemText(end.problem));
      if (gpm) ctx.log.info({ why: end.kind === "stopped" ? end.why : end.problem.text }, "no GPM on this node: reading PCIe rates alone");
    }
  },
});
