import { type CollectorContext, defineCollector, type Reading } from "../schemas/collector.js";
import type { Sample } from "../schemas/samples.js";
import { classifySmiEnd } from "../src/text/nvidia-smi-errors.js";
import { parseSmiNvlink, type SmiNvlinkGpu, sumLinks } from "../src/text/nvidia-smi-nvlink.js";
import { detectGpus, problemText } from "./parts/nvidia-smi-detect.js";
import { gpuEntity, nvlinkEntity } from "./parts/nvidia-smi-entity.js";
import { presentValues } from "./parts/present-values.js";

/** Speeds never change, but a link may go down: how long its state is believed. */
const STATUS_LIFE_US = 60 * 1_000_000;

/** One poll may make two calls: each gets this share of its deadline. */
const CALL_SHARE = 0.45;

const readNvlink = async (ctx: CollectorContext, what: readonly string[]): Promise<readonly SmiNvlinkGpu[]> => {
  const result = await ctx.run("nvidia-smi", ["nvlink", ...what], { timeout_ms: ctx.timeout_ms * CALL_SHARE });
  const gpus = parseSmiNvlink(result.stdout);
  if (gpus.length > 0) return gpus;
  const problem = classifySmiEnd(result)[0];
  throw new Error(problem ? problemText(problem) : "nvidia-smi nvlink names no GPU");
};

const hasLinks = (gpus: readonly SmiNvlinkGpu[]): boolean => gpus.some((gpu) => gpu.links.some((link) => link.active === true));

const whyNone = (gpus: readonly SmiNvlinkGpu[]): string => gpus.find((gpu) => gpu.message !== null)?.message ?? "no active NVLink";

const samplesOf = (ctx: CollectorContext, counters: readonly SmiNvlinkGpu[], status: readonly SmiNvlinkGpu[]): Sample[] => {
  const [ts_us, epoch] = [ctx.clock.wallUs(), ctx.clock.epoch()];
  const samples: Sample[] = [];
  for (const { uuid, index, links: known } of status) {
    const links = counters.find((gpu) => gpu.uuid === uuid)?.links ?? [];
    const totals = presentValues({
      nvlink_tx_bytes_total: sumLinks(links, "txBytes"),
      nvlink_rx_bytes_total: sumLinks(links, "rxBytes"),
    });
    if (Object.keys(totals).length > 0)
      samples.push({ entity: gpuEntity(ctx.node, uuid, { index: String(index) }), ts_us, epoch, values: totals });
    for (const { link, active, speedBytesPerS } of known) {
      const count = links.find((l) => l.link === link);
      const values = presentValues({
        tx_bytes_total: count?.txBytes,
        rx_bytes_total: count?.rxBytes,
        speed_bytes_per_s: speedBytesPerS,
        up: active === null ? null : Number(active),
      });
      if (Object.keys(values).length > 0) samples.push({ entity: nvlinkEntity(ctx.node, uuid, link), ts_us, epoch, values });
    }
  }
  return samples;
};

const missingCounters = (counters: readonly SmiNvlinkGpu[]): number =>
  counters.flatMap((gpu) => gpu.links).filter((link) => link.txBytes === null || link.rxBytes === null).length;

/** Byte counters of every NVLink (`nvidia-smi nvlink -gt d`), and whether it is up and how fast it is (`-s`). */
export const nvidiaSmiNvlink = defineCollector({
  name: "nvidia-smi-nvlink",
  kinds: ["gpu", "link"],
  mode: "poll",
  default_interval_ms: 5000,
  default_timeout_ms: 10_000,
  window_ms: null,
  lag_ms: 0,
  async detect(ctx) {
    const { found, text, mend } = await detectGpus(ctx);
    if (!found) return { found, text, ...(mend === undefined ? {} : { mend }) };
    const result = await ctx.run("nvidia-smi", ["nvlink", "-s"], { timeout_ms: ctx.timeout_ms });
    const gpus = parseSmiNvlink(result.stdout);
    if (!hasLinks(gpus)) return { found: false, text: gpus.length > 0 ? whyNone(gpus) : "nvidia-smi nvlink -s names no GPU" };
    return { found: true, text: `${gpus.reduce((n, gpu) => n + gpu.links.filter((l) => l.active === true).length, 0)} active NVLinks` };
  },
  start() {
    let status: readonly SmiNvlinkGpu[] = [];
    let freshUntil_us = -Infinity;
    return {
      async poll(ctx): Promise<Reading> {
        if (ctx.clock.monoUs() >= freshUntil_us) {
          status = await readNvlink(ctx, ["-s"]);
          freshUntil_us = ctx.clock.monoUs() + STATUS_LIFE_US;
        }
        if (!hasLinks(status)) return { samples: samplesOf(ctx, [], status), notice: whyNone(status) };
        const counters = await readNvlink(ctx, ["-gt", "d"]);
        const missing = missingCounters(counters);
        return {
          samples: samplesOf(ctx, counters, status),
          ...(missing > 0 ? { rejected: { not_available: missing } } : {}),
          notice: null,
        };
      },
    };
  },
});
