import { type CollectorContext, defineCollector, type Reading, type ServerTarget } from "../schemas/collector.js";
import type { EntityRef, Sample, SeriesSample } from "../schemas/samples.js";
import { parseTrtllmIterations, type TrtllmIterations } from "../src/text/trtllm-iterations.js";

const MAX_PAGE_BYTES = 32 * 2 ** 20;

const pageUrl = (target: ServerTarget): string => `${target.url.replace(/\/+$/, "")}/metrics`;
const isTrtllm = (target: ServerTarget): boolean => target.engine === "trtllm";
const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function entityOf(target: ServerTarget, node: string, rank: string): EntityRef {
  const { hostname, port, protocol } = new URL(target.url);
  const pid = target.pids.length === 0 ? {} : { pid: target.pids.join(",") };
  return {
    kind: "server",
    node,
    key: `trtllm:${hostname}:${port !== "" ? port : protocol === "https:" ? "443" : "80"}/${rank}`,
    labels: { engine: "trtllm", rank, url: target.url, server: target.name, ...pid },
  };
}

/** One server's engines from read to read. */
class Iterations {
  readonly #last = new Map<string, number>();
  /** The page is not of this kind: nothing is asked again. */
  #otherwise: string | null = null;

  async read(ctx: CollectorContext, target: ServerTarget): Promise<Reading> {
    if (this.#otherwise !== null) return { samples: [], notice: this.#otherwise };
    const url = pageUrl(target);
    const page = await ctx.http(url, { accept: "application/json", max_bytes: MAX_PAGE_BYTES });
    if (page.status === 404) return { samples: [], notice: `${target.name}: no iteration statistics at ${url}` };
    if (page.status !== 200) throw new Error(`${url} answered ${page.status}`);
    const read = parseTrtllmIterations(page.body);
    if (read.kind === "other") {
      this.#otherwise = `${target.name}: ${url} is no JSON page of trtllm-serve`;
      return { samples: [], notice: this.#otherwise };
    }
    const stamp = { ts_us: page.end_us, epoch: ctx.clock.epoch() };
    const samples: Sample[] = [];
    const series: SeriesSample[] = [];
    const notices: string[] = [];
    for (const engine of read.engines) {
      const entity = entityOf(target, ctx.node, engine.rank);
      samples.push({ entity, ...stamp, values: engine.values });
      for (const [statistic, value] of Object.entries(engine.latency_s ?? {}))
        series.push({ entity, metric: "trtllm_iteration_latency_seconds", labels: { statistic }, type: "gauge", ...stamp, value });
      const lost = this.#lost(engine);
      if (lost > 0) notices.push(`${entity.key}: ${lost} iterations are missing: another program reads the page, or its queue is short`);
    }
    return { samples, series, rejected: read.rejected, notice: notices.length === 0 ? null : notices.join("; ") };
  }

  /** Reading takes records away, so a gap in their numbers is what somebody else has taken. A restart counts from 0 again. */
  #lost({ rank, first, last }: TrtllmIterations): number {
    const before = this.#last.get(rank);
    if (last !== null) this.#last.set(rank, last);
    return before === undefined || first === null ? 0 : Math.max(0, first - before - 1);
  }
}

/**
 * `GET /metrics` of trtllm-serve, which is JSON and hands every iteration to one reader only. Servers are those of engine `trtllm`;
 * `server-metrics` leaves a JSON page alone after it has seen one, and reads `/prometheus/metrics` where the target names it.
 */
export const trtllmIterations = defineCollector({
  name: "trtllm-iterations",
  kinds: ["server"],
  mode: "poll",
  default_interval_ms: 1000,
  default_timeout_ms: 5000,
  window_ms: null,
  lag_ms: null,
  async detect(ctx) {
    const targets = ctx.servers.filter(isTrtllm);
    // Looking at the page would take its records away, so it is not looked at.
    if (targets.length > 0) return { found: true, text: `${targets.map((t) => pageUrl(t)).join(", ")}; nobody else may read it` };
    return { found: false, text: "no trtllm-serve found", mend: "name it in the configuration: servers: [{ name, url, engine: trtllm }]" };
  },
  start() {
    const readers = new Map<string, Iterations>();
    return {
      async poll(ctx) {
        const targets = ctx.servers.filter(isTrtllm);
        const outcomes = await Promise.allSettled(
          targets.map(async (target) => {
            const id = `${target.name}\n${target.url}`;
            const reader = readers.get(id) ?? new Iterations();
            readers.set(id, reader);
            return reader.read(ctx, target);
          }),
        );
        const readings = outcomes.flatMap((o) => (o.status === "fulfilled" ? [o.value] : []));
        const failures = outcomes.flatMap((o, i) => (o.status === "rejected" ? [`${targets[i]!.name}: ${textOf(o.reason)}`] : []));
        if (readings.length === 0 && failures.length > 0) throw new Error(failures.join("; "));
        const notices = [...failures, ...readings.flatMap((r) => r.notice ?? [])];
        const rejected: Record<string, number> = {};
        for (const reading of readings)
          for (const [reason, n] of Object.entries(reading.rejected ?? {})) rejected[reason] = (rejected[reason] ?? 0) + n;
        return {
          samples: readings.flatMap((r) => r.samples),
          series: readings.flatMap((r) => r.series ?? []),
          rejected,
          notice: notices.length === 0 ? null : notices.join("; "),
        };
      },
    };
  },
});
