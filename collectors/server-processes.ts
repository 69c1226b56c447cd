import { type CollectorContext, defineCollector, type Reading } from "../schemas/collector.js";
import type { Sample } from "../schemas/samples.js";
import type { Mark } from "../schemas/telemetry.js";
import { CLK_TCK } from "../src/text/proc-clock-tick.js";
import { parsePidStat, parsePidStatus } from "../src/text/proc-pid-stat.js";
import { parseProcStat } from "../src/text/proc-stat.js";
import { findServerProcesses, type ServerProcess, ServerProcessFinder } from "./parts/find-server-processes.js";
import { presentValues } from "./parts/present-values.js";
import { readText } from "./parts/read-text.js";
import { RestartWatch } from "./parts/restart-watch.js";
import { nameServers, targetPids, targetsKey } from "./parts/server-labels.js";
import type { ServerRole } from "./parts/server-process-roles.js";
import { ThreadTracker } from "./parts/thread-tracker.js";

const SCAN_EVERY_US = 15_000_000;
/** A process has gone: look for its successor sooner, but do not list all processes each time. */
const SCAN_AFTER_LOSS_US = 2_000_000;
const MAX_PROCESSES = 64;
/** Threads that are not busy, read in one poll, all processes together, at some 10 µs each. */
const COLD_READS = 40;

/** Front ends first: where one busy thread is evidence. */
const ROLES: readonly ServerRole[] = ["api_server", "tokenizer", "detokenizer", "engine", "scheduler", "worker", "other"];
const isFrontEnd = (role: ServerRole): boolean => role === "api_server" || role === "tokenizer" || role === "detokenizer";

interface Followed {
  readonly process: ServerProcess;
  readonly server: string | null;
  readonly start_time_s: number | null;
  readonly since_us: number;
  readonly threads: ThreadTracker;
}

const identity = (process: ServerProcess): string => `${process.pid}:${process.start_ticks}`;

class ServerProcessReader {
  private finder: ServerProcessFinder | null = null;
  private followed = new Map<string, Followed>();
  private readonly restarts = new RestartWatch();
  private scannedUs = Number.NEGATIVE_INFINITY;
  private scannedFor = "";
  private isMissingOne = false;
  private bootTimeS: number | null = null;
  private notice: string | null = null;

  async poll(ctx: CollectorContext): Promise<Reading> {
    const marks: Mark[] = [];
    const age = ctx.clock.monoUs() - this.scannedUs;
    const isDue = age >= SCAN_EVERY_US || (this.isMissingOne && age >= SCAN_AFTER_LOSS_US);
    if (isDue || targetsKey(ctx.servers) !== this.scannedFor) await this.scan(ctx, marks);
    const weight = (f: Followed): number => (isFrontEnd(f.process.role) ? 4 : 1);
    const weights = [...this.followed.values()].reduce((sum, f) => sum + weight(f), 0);
    const samples: Sample[] = [];
    for (const [key, followed] of this.followed) {
      const coldReads = Math.max(1, Math.floor((COLD_READS * weight(followed)) / weights));
      const sample = this.read(ctx, followed, coldReads);
      if (sample !== null) samples.push(sample);
      else {
        this.followed.delete(key);
        this.restarts.lost(followed.process, followed.server, followed.since_us, ctx.clock.monoUs());
        this.isMissingOne = true;
      }
    }
    return { samples, marks, notice: this.notice };
  }

  private async scan(ctx: CollectorContext, marks: Mark[]): Promise<void> {
    this.scannedUs = ctx.clock.monoUs();
    this.scannedFor = targetsKey(ctx.servers);
    this.isMissingOne = false;
    const { proc } = ctx.roots;
    this.finder ??= new ServerProcessFinder(proc);
    // Read once: the kernel derives it from the wall clock, and a start time must not move with it.
    this.bootTimeS ??= parseProcStat(readText(`${proc}/stat`) ?? "").boot_time_s;
    const found = await this.finder.find(targetPids(ctx.servers));
    const servers = nameServers(found, ctx.servers, ctx.node);
    const ranked = found.toSorted((a, b) => ROLES.indexOf(a.role) - ROLES.indexOf(b.role) || a.pid - b.pid);
    const chosen = ranked.slice(0, MAX_PROCESSES);
    this.notice =
      ranked.length > chosen.length ? `${ranked.length - chosen.length} server processes beyond ${MAX_PROCESSES} are not read` : null;
    const next = new Map<string, Followed>();
    for (const process of chosen) {
      const key = identity(process);
      const target = servers.get(process.pid);
      const before = this.followed.get(key);
      const start_time_s = before?.start_time_s ?? (this.bootTimeS === null ? null : this.bootTimeS + process.start_ticks / CLK_TCK);
      const named = process.engine === "unknown" && target?.engine != null ? { ...process, engine: target.engine } : process;
      const server = target?.name ?? null;
      next.set(key, {
        process: named,
        server,
        start_time_s,
        since_us: before?.since_us ?? this.scannedUs,
        threads: before?.threads ?? new ThreadTracker(`${proc}/${process.pid}`),
      });
    }
    for (const [key, { process, server, since_us }] of this.followed)
      if (!next.has(key)) this.restarts.lost(process, server, since_us, this.scannedUs);
    for (const [key, { process, server, start_time_s }] of next) {
      const mark = this.followed.has(key) ? null : this.restarts.found(process, server, start_time_s, ctx);
      if (mark !== null) marks.push(mark);
    }
    this.followed = next;
  }

  /** Null when the process has ended, or its pid names another one by now. */
  private read(ctx: CollectorContext, { process, server, start_time_s, threads }: Followed, coldReads: number): Sample | null {
    const folder = `${ctx.roots.proc}/${process.pid}`;
    const stat = parsePidStat(readText(`${folder}/stat`) ?? "");
    if (stat === null || stat.start_ticks !== process.start_ticks || stat.state === "Z") return null;
    const ts_us = ctx.clock.wallUs();
    const status = parsePidStatus(readText(`${folder}/status`) ?? "");
    const thread = threads.update(ctx.clock.monoUs(), stat, isFrontEnd(process.role) ? 4 : 2, coldReads);
    return {
      entity: {
        kind: "process",
        node: ctx.node,
        key: `proc:${process.pid}:${process.start_ticks}`,
        labels: {
          role: process.role,
          pid: String(process.pid),
          name: process.name,
          engine: process.engine,
          ...(server === null ? {} : { server }),
        },
      },
      ts_us,
      epoch: ctx.clock.epoch(),
      values: presentValues({
        cpu_s_total: stat.cpu_s,
        threads: stat.threads,
        rss_bytes: status.rss_bytes,
        hottest_thread_cores: thread.hottest_cores,
        hottest_thread_tid: thread.hottest_tid,
        run_wait_s_total: thread.wait_s,
        involuntary_switches_total: status.involuntary_switches,
        major_faults_total: stat.major_faults,
        start_time_s,
      }),
    };
  }
}

/** Processes of the node's inference servers and their busiest threads, from `/proc/PID`. */
export const serverProcesses = defineCollector({
  name: "server-processes",
  kinds: ["process"],
  mode: "poll",
  default_interval_ms: 1000,
  default_timeout_ms: 2000,
  window_ms: null,
  lag_ms: 0,
  detect: async (ctx) => {
    if (readText(`${ctx.roots.proc}/stat`) === null) return { found: false, text: `${ctx.roots.proc} cannot be read` };
    const found = await findServerProcesses(ctx.roots);
    const names = found.map((p) => `${p.engine} ${p.role} (pid ${p.pid})`);
    if (names.length === 0)
      return {
        found: true,
        text: "no inference server process yet",
        mend: "in a container, share the process namespace (hostPID: true, or shareProcessNamespace in the pod)",
      };
    return { found: true, text: `${names.slice(0, 8).join(", ")}${names.length > 8 ? ` and ${names.length - 8} more` : ""}` };
  },
  start: () => {
    const reader = new ServerProcessReader();
    return { poll: (ctx) => reader.poll(ctx) };
  },
});
