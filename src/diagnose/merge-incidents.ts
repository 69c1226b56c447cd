import type { Episode } from "../../schemas/index.js";
import type { Detection } from "./detector.js";
import type { GroupRequests } from "./group-requests.js";
import { byStart, type Incident, incidentOf } from "./incidents.js";

/** Incidents that share this much of the shorter one's time are one: requests of one fault that lost their time apart. */
const OVERLAP = 0.5;
/** Neighbours under one verdict, no further apart than this, are one. */
const SAME_KIND_US = 5e6;

const joined = (parts: readonly Incident[], q: GroupRequests, detection: Detection): Incident | null =>
  incidentOf(
    [...new Set(parts.flatMap((p) => p.rows))],
    parts.flatMap((p) => p.losses),
    q,
    detection,
  );

interface Stretch {
  from: number;
  to: number;
  readonly parts: Incident[];
}

const overlaps = (a: Stretch, b: Incident): boolean =>
  Math.min(a.to, b.to) - Math.max(a.from, b.from) >= OVERLAP * Math.min(a.to - a.from, b.to - b.from);

/** Joins incidents of requests that lie over each other in time. */
export const mergeOverlapping = (incidents: readonly Incident[], q: GroupRequests, detection: Detection): Incident[] => {
  const stretches: Stretch[] = [];
  for (const next of [...incidents].sort(byStart)) {
    const last = stretches[stretches.length - 1];
    if (last !== undefined && overlaps(last, next)) {
      last.to = Math.max(last.to, next.to);
      last.parts.push(next);
    } else stretches.push({ from: next.from, to: next.to, parts: [next] });
  }
  return stretches.flatMap(({ parts }) => {
    const whole = parts.length > 1 ? joined(parts, q, detection) : null;
    return whole === null ? parts : [whole];
  });
};

export interface Judged {
  readonly incident: Incident;
  readonly episode: Episode;
}

const kindOf = (e: Episode): string => `${e.class}/${e.cause}/${e.reason}`;

/** Joins neighbours of one verdict, where the whole gets the same verdict or at least an answer; `judge` is asked again for each join. */
export const mergeSameKind = (
  judged: readonly Judged[],
  q: GroupRequests,
  detection: Detection,
  judge: (incident: Incident) => Episode,
): Judged[] => {
  const out: Judged[] = [];
  for (const next of [...judged].sort((a, b) => byStart(a.incident, b.incident))) {
    const last = out[out.length - 1];
    const near =
      last !== undefined &&
      last.incident.given === undefined &&
      next.incident.given === undefined &&
      next.incident.from - last.incident.to <= SAME_KIND_US &&
      kindOf(last.episode) === kindOf(next.episode);
    const incident = near ? joined([last.incident, next.incident], q, detection) : null;
    const episode = incident === null ? null : judge(incident);
    if (incident !== null && episode !== null && episode.class === next.episode.class) out[out.length - 1] = { incident, episode };
    else out.push(next);
  }
  return out;
};
