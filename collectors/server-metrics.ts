import { type CollectorContext, defineCollector, type Reading, type ServerTarget } from "../schemas/collector.js";
import type { Sample } from "../schemas/samples.js";
import type { Mark } from "../schemas/telemetry.js";
import { type CanonicalMapper, createCanonicalMapper } from "../src/text/canonical-series.js";
import { ExpositionScanner } from "../src/text/exposition-scanner.js";
import { addUp } from "./parts/rejected-counts.js";
import { ServerPageWatch } from "./parts/server-page-watch.js";

const ACCEPT = "text/plain;version=0.0.4";
const MAX_PAGE_BYTES = 32 * 2 ** 20;

const pageUrl = (target: ServerTarget): string => `${target.url.replace(/\/+$/, "")}/${target.metrics_path.replace(/^\/+/, "")}`;

/** `HOST:PORT`, with the scheme's port where the URL has none. */
function hostPort(url: string): string {
  const { hostname, port, protocol } = new URL(url);
  return `${hostname}:${port !== "" ? port : protocol === "https:" ? "443" : "80"}`;
}

/** trtllm-serve's JSON page, which hands its records to one reader only. */
const isJsonPage = (body: string): boolean => body.trimStart().startsWith("[");

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** State of one server from page to page. */
class ServerPages {
  readonly #scanner = new ExpositionScanner({ timestamps: "ms" });
  readonly #watch = new ServerPageWatch();
  readonly #mapper: CanonicalMapper;
  /** Seen once: from then on it is `trtllm-iterations` that reads it. */
  #isJson = false;

  constructor(target: ServerTarget, node: string) {
    const pid = target.pids.length === 0 ? {} : { pid: target.pids.join(",") };
    this.#mapper = createCanonicalMapper({
      node,
      instance: hostPort(target.url),
      server_labels: { url: target.url, server: target.name, ...pid },
    });
  }

  async read(ctx: CollectorContext, target: ServerTarget): Promise<Reading> {
    if (this.#isJson) return leftAlone(target);
    const url = pageUrl(target);
    const page = await ctx.http(url, { accept: ACCEPT, max_bytes: MAX_PAGE_BYTES });
    if (page.status !== 200) throw new Error(`${url} answered ${page.status}`);
    this.#isJson = isJsonPage(page.body);
    if (this.#isJson) return leftAlone(target);
    const cut = page.truncated || (page.body !== "" && !page.body.endsWith("\n"));
    this.#mapper.begin(page.end_us, ctx.clock.epoch());
    this.#scanner.page(page.body, this.#mapper, cut);
    const batches = [...this.#mapper.batches()];
    const { manifest, rejected } = this.#mapper.summary();
    const samples = withScrapeTime(
      batches.flatMap((b) => b.samples).filter((s) => s.entity.kind === "server"),
      page.duration_ms / 1000,
    );
    const { restarted, stale } = this.#watch.look(samples);
    const marks: Mark[] =
      restarted === null ? [] : [{ ts_us: page.end_us, node: ctx.node, kind: "restart", text: `${target.name} restarted: ${restarted}` }];
    const notices = stale.map((key) => `${key}: gauges are stale, no token moves`);
    // While several processes start up, the page is there and empty: no metrics yet, not an idle server.
    if (page.body.trim() === "") notices.push(`${target.name}: no metrics yet`);
    else if (samples.length === 0) notices.push(`${target.name}: no metrics of a known engine`);
    return {
      samples,
      series: batches.flatMap((b) => b.series).filter((s) => s.entity.kind === "server"),
      marks,
      manifest,
      rejected: addUp(rejected),
      notice: notices.length === 0 ? null : notices.join("; "),
    };
  }
}

function leftAlone(target: ServerTarget): Reading {
  return {
    samples: [],
    notice: target.engine === "trtllm" ? null : `${target.name}: a JSON page; if it is trtllm-serve's, set engine: trtllm`,
  };
}

/** A busy front end answers late: the time of the page belongs to the process, thus to its first engine. */
function withScrapeTime(samples: readonly Sample[], seconds: number): Sample[] {
  return samples.map((s, i) => (i === 0 ? { ...s, values: { ...s.values, scrape_duration_s: seconds } } : s));
}

class Poller {
  readonly #pages = new Map<string, ServerPages>();

  async poll(ctx: CollectorContext): Promise<Reading> {
    const outcomes = await Promise.allSettled(
      ctx.servers.map((target) => this.#pagesOf(target, ctx.node).then((p) => p.read(ctx, target))),
    );
    const readings = outcomes.flatMap((o) => (o.status === "fulfilled" ? [o.value] : []));
    const failures = outcomes.flatMap((o, i) => (o.status === "rejected" ? [`${ctx.servers[i]!.name}: ${textOf(o.reason)}`] : []));
    if (readings.length === 0 && failures.length > 0) throw new Error(failures.join("; "));
    const notices = [...failures, ...readings.flatMap((r) => (typeof r.notice === "string" ? [r.notice] : []))];
    return {
      samples: readings.flatMap((r) => r.samples),
      series: readings.flatMap((r) => r.series ?? []),
      marks: readings.flatMap((r) => r.marks ?? []),
      manifest: Object.assign({}, ...readings.map((r) => r.manifest ?? {})) as Record<string, string>,
      rejected: addUp(Object.fromEntries(readings.map((r, i) => [String(i), r.rejected ?? {}]))),
      notice: notices.length === 0 ? null : notices.join("; "),
    };
  }

  /** Rejects on a URL that cannot be read, so that one wrong target does not end the others. */
  async #pagesOf(target: ServerTarget, node: string): Promise<ServerPages> {
    const id = `${target.name}\n${pageUrl(target)}\n${target.pids.join()}`;
    const pages = this.#pages.get(id) ?? new ServerPages(target, node);
    this.#pages.set(id, pages);
    return pages;
  }
}

/** `/metrics` of the inference servers that discovery or the configuration named. The engine is recognised by the names on the page. */
export const serverMetrics = defineCollector({
  name: "server-metrics",
  kinds: ["server"],
  mode: "poll",
  default_interval_ms: 1000,
  default_timeout_ms: 5000,
  window_ms: null,
  lag_ms: null,
  async detect(ctx) {
    if (ctx.servers.length === 0) {
      return { found: false, text: "no inference server found", mend: "name it in the configuration (servers: url), or start it" };
    }
    const mapper = createCanonicalMapper();
    const seen = await Promise.all(
      ctx.servers.map(async (target) => {
        try {
          const { status, body } = await ctx.http(pageUrl(target), { accept: ACCEPT, max_bytes: MAX_PAGE_BYTES });
          mapper.begin(0);
          new ExpositionScanner().page(body, mapper);
          const { engines } = mapper.summary();
          if (status === 200 && engines.length > 0) return { found: true, text: `${target.name}: ${engines.join(", ")} at ${target.url}` };
          return { found: false, text: `${target.name}: ${target.url} answered ${status} without metrics of a known engine` };
        } catch (error) {
          return { found: false, text: `${target.name}: ${textOf(error)}` };
        }
      }),
    );
    const text = seen.map((s) => s.text).join("; ");
    if (seen.every((s) => s.found)) return { found: true, text };
    return { found: seen.some((s) => s.found), text, mend: "SGLang needs --enable-metrics; check URL and metrics_path" };
  },
  start() {
    const poller = new Poller();
    return { poll: (ctx) => poller.poll(ctx) };
  },
});
