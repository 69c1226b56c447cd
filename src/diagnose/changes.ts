import type { DiagnosisInput, Track } from "../../schemas/index.js";
import type { ServerGroup } from "./server-groups.js";

/** Something that changed on a server or its node: a mark, or a step of a reading that only a change makes. */
export interface Change {
  readonly ts_us: number;
  readonly kind: string;
  readonly text: string;
}

/** What the observer did itself is no change of the observed. */
const OWN_MARKS: ReadonlySet<string> = new Set(["agent_start", "agent_stop", "agent_restart"]);
/** Counters that only a new process sets back. */
const COUNTERS = ["generation_tokens_total", "prompt_tokens_total", "success_total"];
const RESET_TO = 0.5;

const resets = (track: Track): Change[] => {
  const out = new Map<number, Change>();
  for (const name of COUNTERS) {
    let last = Number.NaN;
    track.columns[name]?.forEach((v, i) => {
      if (!Number.isFinite(v)) return;
      const ts_us = track.ts_us[i]!;
      if (v < RESET_TO * last) out.set(ts_us, { ts_us, kind: "restart", text: `counters of ${track.entity.key} started again` });
      last = v;
    });
  }
  return [...out.values()];
};

/** Readings of a column that differ from the one before by more than `least`, as changes. */
const steps = (track: Track, column: string, least: number, make: (before: number, after: number) => Omit<Change, "ts_us">): Change[] => {
  const out: Change[] = [];
  let last = Number.NaN;
  track.columns[column]?.forEach((v, i) => {
    if (!Number.isFinite(v)) return;
    if (Math.abs(v - last) > least) out.push({ ts_us: track.ts_us[i]!, ...make(last, v) });
    last = v;
  });
  return out;
};

/** Everything that changed around one server, in order of time. */
export const changesOf = (input: DiagnosisInput, group: ServerGroup): Change[] => {
  const out: Change[] = [];
  for (const t of [...group.servers, ...group.processes.flat()])
    for (const column of ["process_start_time_s", "start_time_s"])
      out.push(...steps(t, column, 1, () => ({ kind: "restart", text: `${t.entity.key} is another process` })));
  for (const t of group.servers) out.push(...resets(t));
  for (const t of group.gpus.flat()) {
    const name = t.entity.labels.index === undefined ? t.entity.key : `GPU ${t.entity.labels.index}`;
    const watts = (before: number, after: number) => `power limit of ${name} went from ${before.toFixed(0)} to ${after.toFixed(0)} W`;
    out.push(...steps(t, "power_limit_w", 1, (a, b) => ({ kind: "power_limit", text: watts(a, b) })));
    out.push(...steps(t, "pcie_link_width", 0, (a, b) => ({ kind: "link_width", text: `PCIe link of ${name} went from x${a} to x${b}` })));
  }
  for (const m of input.telemetry.marks) if (!OWN_MARKS.has(m.kind)) out.push({ ts_us: m.ts_us, kind: m.kind, text: m.text });
  return out.sort((a, b) => a.ts_us - b.ts_us || (a.kind < b.kind ? -1 : a.kind > b.kind ? 1 : a.text < b.text ? -1 : 1));
};

/** A change this long before a moment, or this little after it (stamps lie within an interval), may have brought it about. */
const BEFORE_US = 30e6;
const AFTER_US = 2e6;

/** The last change before a moment, or none. */
export const changeBefore = (changes: readonly Change[], moment_us: number): Change | null => {
  let found: Change | null = null;
  for (const c of changes) if (c.ts_us >= moment_us - BEFORE_US && c.ts_us <= moment_us + AFTER_US) found = c;
  return found;
};
