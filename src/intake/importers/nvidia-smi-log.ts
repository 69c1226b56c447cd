import type { Sample, SourceSpec } from "../../../schemas/samples.js";
import type { Mark } from "../../../schemas/telemetry.js";
import { localZone } from "../../time/civil-time.js";
import { createLocalClock, type LocalClock } from "../../time/local-clock.js";
import type { ImportContext } from "./importer.js";
import { RowBatch } from "./row-batch.js";

/** What both kinds of log have in common: local times, GPUs known by different names, faults. */
export interface SmiLog {
  readonly local: LocalClock;
  refuse(reason: string, count?: number): void;
  refuseAll(counts: Readonly<Record<string, number>>): void;
  sample(key: string, labels: Readonly<Record<string, string | null>>, ts_us: number, values: Readonly<Record<string, number>>): void;
  fault(ts_us: number, text: string): void;
  /** Tells in which zone times were read, once one was. */
  placed(): void;
  end(): void;
}

/** Begins to read a log; `name` is that of the live source whose output it is. */
export function createSmiLog(name: string, context: ImportContext): SmiLog {
  const zone = context.clock.zone ?? localZone();
  const source: SourceSpec = { name, node: context.node, run: context.run, interval_ms: null, window_ms: null, lag_ms: null };
  const batch = new RowBatch<Sample>((rows) => context.sink.samples(source, rows));
  const marks: Mark[] = [];
  const seen = new Map<string, number>();
  const told = new Set<string>();
  let placed = false;
  const refuse = (reason: string, count = 1): void => context.sink.rejected(source, reason, count);
  return {
    local: createLocalClock(zone),
    refuse,
    refuseAll(counts) {
      for (const [reason, count] of Object.entries(counts)) refuse(reason, count);
    },
    sample(key, labels, ts_us, values) {
      if (Object.keys(values).length === 0) return;
      // Two rows of one GPU within a second of resolution stay two readings, in their order.
      const last = seen.get(key) ?? -Infinity;
      const ts = ts_us === last ? ts_us + 1 : ts_us;
      seen.set(key, ts);
      const known = Object.fromEntries(Object.entries(labels).filter((label): label is [string, string] => label[1] !== null));
      batch.add({ entity: { kind: "gpu", node: context.node, key, labels: known }, ts_us: ts, epoch: 0, values });
    },
    fault(ts_us, text) {
      if (told.has(text)) return;
      told.add(text);
      marks.push({ ts_us, node: context.node, kind: "gpu_fault", text });
    },
    placed() {
      placed = true;
    },
    end() {
      batch.flush();
      if (marks.length > 0) context.sink.marks(marks, context.run);
      if (placed)
        context.warn(
          context.clock.zone === null
            ? `its times are local and name no zone: read in ${zone}, this machine's; give --zone where the log is from another`
            : `its local times were read in zone ${zone}`,
        );
    },
  };
}
