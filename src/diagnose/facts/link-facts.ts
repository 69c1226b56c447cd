import type { Track } from "../../../schemas/index.js";
import { ramp } from "../../core/ramp.js";
import { type EpisodeContext, type Fact, rampOf } from "../episode-context.js";
import { gpusHave, type Reading, type ReadOptions, readSeries } from "../reading.js";
import { factOf } from "./fact-of.js";
import { gpuPeak } from "./power-facts.js";

/** Practical ceilings: all-reduce on NVLink and bulk transfer on PCIe, as shares of the nominal rate. */
const NVLINK_REACH = 0.77;
const PCIE_REACH = 0.8;

const readOne = (
  ctx: EpisodeContext,
  tracks: readonly Track[],
  column: string,
  kind: "level" | "rate",
  options: ReadOptions,
): Reading | null => {
  const sourced = ctx.view.best(tracks, column, kind);
  return sourced === null ? null : readSeries(ctx, sourced, options);
};

const scaled = (r: Reading, by: number): Reading => ({ ...r, value: r.value / by, usual: r.usual / by, sd: r.sd / by });

const busiest = (readings: readonly Reading[]): Reading | null =>
  readings.reduce<Reading | null>((a, r) => (a === null || r.value > a.value ? r : a), null);

export const linkHigh: Fact = (ctx, row) => {
  const found: Reading[] = [];
  const push = (r: Reading | null, capacity: number) => {
    if (r !== null && capacity > 0) found.push(scaled(r, capacity));
  };
  const nvlink = gpuPeak(ctx, (g) => g.nvlink_bytes_per_s) * NVLINK_REACH;
  const pcie = gpuPeak(ctx, (g) => g.pcie_bytes_per_s) * PCIE_REACH;
  for (const gpu of ctx.group.gpus) {
    for (const c of ["nvlink_tx_bytes_per_s", "nvlink_rx_bytes_per_s"])
      push(readOne(ctx, gpu, c, "level", { width: 0.3 * nvlink }), nvlink);
    for (const c of ["nvlink_tx_bytes_total", "nvlink_rx_bytes_total"]) push(readOne(ctx, gpu, c, "rate", { width: 0.3 * nvlink }), nvlink);
    for (const c of ["pcie_tx_bytes_per_s", "pcie_rx_bytes_per_s"]) push(readOne(ctx, gpu, c, "level", { width: 0.3 * pcie }), pcie);
  }
  for (const link of ctx.group.links) {
    const speed = readOne(ctx, link, "speed_bytes_per_s", "level", { width: 1 })?.value ?? Number.NaN;
    for (const c of ["tx_bytes_total", "rx_bytes_total"]) push(readOne(ctx, link, c, "rate", { width: 0.3 * speed }), speed);
  }
  const top = busiest(found);
  return top === null ? null : factOf(row.name, top, ramp(top.value, ...rampOf(row, "use")));
};

export const linkDowngraded: Fact = (ctx, row) => {
  const found: Reading[] = [];
  for (const gpu of ctx.group.gpus) {
    const at = (c: string) => readOne(ctx, gpu, c, "level", { width: 1 });
    const [gen, genMax, width, widthMax] = [at("pcie_link_gen"), at("pcie_link_gen_max"), at("pcie_link_width"), at("pcie_link_width_max")];
    if (gen === null || genMax === null || width === null || widthMax === null || !(genMax.value * widthMax.value > 0)) continue;
    const share = (2 ** (gen.value - genMax.value) * width.value) / widthMax.value;
    found.push({ ...gen, value: 1 - share, usual: Number.NaN });
  }
  const top = busiest(found);
  return top === null ? null : factOf(row.name, top, ramp(top.value, ...rampOf(row, "loss")), { contrast: Number.NaN });
};

/** All ranks of a group run in step: one that differs is the culprit. Only for GPUs that are known to form a group. */
export const rankImbalance: Fact = (ctx, row) => {
  if (ctx.group.groupQuality === 0) return null;
  const column = ["sm_active_ratio", "gr_engine_active_ratio", "gpu_util_ratio"].find((c) => gpusHave(ctx, c));
  if (column === undefined) return null;
  const readings = ctx.group.gpus.flatMap((g) => readOne(ctx, g, column, "level", { width: 0.2, ratio: true }) ?? []);
  if (readings.length < 2) return null;
  const values = readings.map((r) => r.value);
  const usual = readings.map((r) => r.usual);
  const spread = Math.max(...values) - Math.min(...values);
  const usualSpread = Math.max(...usual) - Math.min(...usual);
  const first = readings[0]!;
  return factOf(row.name, first, ramp(spread - (Number.isNaN(usualSpread) ? 0 : usualSpread), ...rampOf(row, "spread")), {
    value: spread,
    expected: usualSpread,
    quality: Math.min(...readings.map((r) => r.quality)) * ctx.group.groupQuality,
    contrast: Number.NaN,
  });
};

const CONGESTION_COUNTERS = [
  "cnp_handled_total",
  "ecn_marked_total",
  "out_of_sequence_total",
  "retries_total",
  "rx_errors_total",
  "tx_errors_total",
];

/** Below this many events a second a tenfold rise is still noise. */
const FEW_EVENTS = 5;

export const congestion: Fact = (ctx, row) => {
  let best: ReturnType<Fact> = null;
  const offer = (r: Reading | null, strength: number, value: number, expected: number) => {
    if (r === null || !Number.isFinite(strength)) return;
    if (best === null || strength > best.strength) best = factOf(row.name, r, strength, { value, expected, contrast: Number.NaN });
  };
  const rise = (r: Reading | null) => {
    if (r === null || !Number.isFinite(r.usual)) return;
    const times = r.value / Math.max(r.usual, FEW_EVENTS);
    offer(r, ramp(times, ...rampOf(row, "rise")), r.value, r.usual);
  };
  for (const link of ctx.group.links) {
    const wait = readOne(ctx, link, "xmit_wait_ratio", "level", { width: 0.2, ratio: true });
    if (wait !== null) offer(wait, ramp(wait.value, ...rampOf(row, "share")), wait.value, wait.usual);
    for (const c of CONGESTION_COUNTERS) rise(readOne(ctx, link, c, "rate", { width: 50 }));
  }
  rise(readOne(ctx, ctx.group.hosts, "tcp_retrans_segs_total", "rate", { width: 50 }));
  return best;
};
