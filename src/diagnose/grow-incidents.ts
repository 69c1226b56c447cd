import type { RequestColumns } from "../../schemas/index.js";
import type { Detection } from "./detector.js";
import { type GroupRequests, rowsNear } from "./group-requests.js";
import type { Incident } from "./incidents.js";
import { lossesOf } from "./losses.js";

/** Part of a request's life that must lie in the incident. */
const OVERLAP = 0.3;
const MIN_ROWS = 5;

/**
 * Adds to each incident the requests of its time that are slow by the same ratio and floor but not far enough out of the run's noise to
 * stand alone: beside five or more others they are no coincidence. Marks them as candidates; the incident's window stays as it is.
 */
export const growIncidents = (incidents: readonly Incident[], q: GroupRequests, all: RequestColumns, detection: Detection): Incident[] => {
  const taken = new Set(incidents.flatMap((i) => i.rows));
  return incidents.map((incident) => {
    if (incident.rows.length < MIN_ROWS) return incident;
    const extra: number[] = [];
    const [first, after] = rowsNear(q, incident.from, incident.to);
    for (let i = first; i < after; i++) {
      if (taken.has(i) || !(q.end[i]! >= incident.from) || q.censored[i] === 1) continue;
      const mild = detection.metrics.filter((m) => m.mild[i] === 1 && (m.metric === "e2e" || m.metric === "tpot"));
      if (mild.length === 0) continue;
      const inside = Math.min(q.end[i]!, incident.to) - Math.max(q.sent[i]!, incident.from);
      if (inside < OVERLAP * (q.end[i]! - q.sent[i]!)) continue;
      for (const m of mild) m.candidate[i] = 1;
      taken.add(i);
      extra.push(i);
    }
    if (extra.length === 0) return incident;
    const rows = [...incident.rows, ...extra].sort((a, b) => a - b);
    return { ...incident, rows, losses: [...incident.losses, ...extra.flatMap((i) => lossesOf(q, all, detection, i))] };
  });
};
