import type { CollectorContext } from "../../schemas/collector.js";
import type { Mark } from "../../schemas/telemetry.js";
import type { ServerProcess } from "./find-server-processes.js";
import type { ServerRole } from "./server-process-roles.js";

/** What serves requests as a whole. Workers restart with their engine, and helpers come and go. */
const SERVING: readonly ServerRole[] = ["api_server", "engine", "scheduler"];

const place = (process: ServerProcess, server: string | null): string =>
  [server ?? "", process.engine, process.role, process.name, process.port ?? ""].join("\n");

/** A process that was seen for less may be a fork that was about to become another program. */
const SEEN_FOR_US = 10_000_000;
/** Later than this a new process is a new start, not a restart. */
const BACK_WITHIN_US = 900_000_000;

/** Tells a restarted server process from a new one: the same part of the same server was there before and has ended. */
export class RestartWatch {
  private readonly lostPids = new Map<string, { readonly pid: number; readonly atUs: number }[]>();

  /** A process that was followed since `sinceUs` has ended. Times from the monotonic clock. */
  lost(process: ServerProcess, server: string | null, sinceUs: number, nowUs: number): void {
    if (!SERVING.includes(process.role) || nowUs - sinceUs < SEEN_FOR_US) return;
    const key = place(process, server);
    this.lostPids.set(key, [...(this.lostPids.get(key) ?? []), { pid: process.pid, atUs: nowUs }]);
  }

  /** A process is seen for the first time: the mark of its restart, at its start time, when it takes the place of one that has ended. */
  found(process: ServerProcess, server: string | null, startTimeS: number | null, ctx: CollectorContext): Mark | null {
    const key = place(process, server);
    const lost = (this.lostPids.get(key) ?? []).filter((l) => ctx.clock.monoUs() - l.atUs <= BACK_WITHIN_US);
    const before = lost.shift();
    this.lostPids.set(key, lost);
    if (before === undefined) return null;
    return {
      ts_us: startTimeS === null ? ctx.clock.wallUs() : Math.round(startTimeS * 1e6),
      node: ctx.node,
      kind: "restart",
      text: `${server ?? process.engine}: ${process.name} restarted (pid ${before.pid}, now ${process.pid})`,
    };
  }
}
