import { type CollectorContext, defineCollector, type Reading } from "../schemas/collector.js";
import { type CanonicalMapper, createCanonicalMapper } from "../src/text/canonical-series.js";
import { ExpositionScanner } from "../src/text/exposition-scanner.js";
import { GpuPageWatch } from "./parts/gpu-page-watch.js";
import { addUp } from "./parts/rejected-counts.js";

const DEFAULT_URL = "http://127.0.0.1:9400";
const MAX_PAGE_BYTES = 32 * 2 ** 20;

const metricsUrl = (ctx: CollectorContext): string => {
  const base = (ctx.url ?? DEFAULT_URL).replace(/\/+$/, "");
  return base.endsWith("/metrics") ? base : `${base}/metrics`;
};

const SWITCH_ON = "run dcgm-exporter with --collect-interval 1000 and DCGM_FI_PROF_SM_ACTIVE in its field list";

/** State from page to page: known series, seen GPUs. */
class Poller {
  readonly #scanner = new ExpositionScanner({ timestamps: "ms" });
  readonly #watch = new GpuPageWatch();
  #mapper: CanonicalMapper | null = null;

  async poll(ctx: CollectorContext): Promise<Reading> {
    const url = metricsUrl(ctx);
    const page = await ctx.http(url, { max_bytes: MAX_PAGE_BYTES });
    if (page.status !== 200) throw new Error(`${url} answered ${page.status}`);
    // The exporter stops in the middle of a line when a gather outlasts its write timeout.
    const cut = page.truncated || (page.body !== "" && !page.body.endsWith("\n"));
    this.#mapper ??= createCanonicalMapper({ node: ctx.node });
    this.#mapper.begin(page.end_us, ctx.clock.epoch());
    this.#scanner.page(page.body, this.#mapper, cut);
    const batches = [...this.#mapper.batches()].filter((b) => b.source === "dcgm-exporter");
    const samples = batches.flatMap((b) => b.samples);
    const { manifest, rejected } = this.#mapper.summary();
    const found = this.#watch.look(samples, page.end_us, ctx.node, !cut && page.body !== "");
    const notices = [...found.notices];
    if (page.body === "") notices.push("empty page: the exporter is starting or reloading");
    if (cut) notices.push("page was cut: the last line is dropped");
    return {
      samples,
      series: batches.flatMap((b) => b.series),
      marks: found.marks,
      manifest,
      rejected: addUp(rejected),
      notice: notices.length === 0 ? null : notices.join("; "),
    };
  }
}

/** NVIDIA dcgm-exporter over HTTP: GPUs and MIG instances. One page for all GPUs of the node; reading it measures nothing anew. */
export const dcgmExporter = defineCollector({
  name: "dcgm-exporter",
  mode: "poll",
  kinds: ["gpu"],
  default_interval_ms: 1000,
  default_timeout_ms: 8000,
  window_ms: null,
  lag_ms: null,
  default_url: DEFAULT_URL,
  async detect(ctx) {
    const url = metricsUrl(ctx);
    try {
      const { status, body } = await ctx.http(url, { max_bytes: MAX_PAGE_BYTES });
      if (status !== 200 || !/^dcgm_/im.test(body)) {
        return { found: false, text: `${url} answered ${status} without DCGM metrics`, mend: SWITCH_ON };
      }
      if (!/^DCGM_FI_PROF_/im.test(body))
        return { found: true, text: `dcgm-exporter at ${url}, without profiling fields`, mend: SWITCH_ON };
      return { found: true, text: `dcgm-exporter at ${url}` };
    } catch (error) {
      return {
        found: false,
        text: `no dcgm-exporter at ${url}: ${error instanceof Error ? error.message : String(error)}`,
        mend: SWITCH_ON,
      };
    }
  },
  start() {
    const poller = new Poller();
    return { poll: (ctx) => poller.poll(ctx) };
  },
});
