import type { DecisionTable, DiagnosisInput } from "../../schemas/index.js";
import { valueAt } from "../core/step-function.js";
import { canonicalTelemetry } from "./canonical-telemetry.js";
import type { GroupContext } from "./episode-context.js";
import { groupContext } from "./group-context.js";
import { growIncidents } from "./grow-incidents.js";
import { disturbedTime, findIncidents, type Incident } from "./incidents.js";
import { findLosses } from "./losses.js";
import { measureLags } from "./measure-lag.js";
import { mergeOverlapping } from "./merge-incidents.js";
import { isNatural } from "./natural-load.js";
import { serverGroups } from "./server-groups.js";
import { telemetryIncidents } from "./telemetry-incidents.js";
import { TelemetryView } from "./telemetry-view.js";

/** Telemetry this close to an incident is not taken as usual, µs. */
const GUARD_US = 1e6;

const lastTime = (input: DiagnosisInput): number => {
  let last = input.run.end_us ?? Number.NEGATIVE_INFINITY;
  for (const t of input.telemetry.tracks) if (t.ts_us.length > 0) last = Math.max(last, t.ts_us[t.ts_us.length - 1]!);
  for (let i = 0; i < input.requests.n; i++) {
    const end = input.requests.end_us[i]!;
    last = Math.max(last, Number.isFinite(end) ? end : input.requests.arrival_us[i]!);
  }
  return last;
};

const firstTime = (input: DiagnosisInput): number => {
  let first = input.run.start_us ?? Number.POSITIVE_INFINITY;
  for (const t of input.telemetry.tracks) if (t.ts_us.length > 0) first = Math.min(first, t.ts_us[0]!);
  if (input.requests.n > 0) first = Math.min(first, input.requests.sent_us[0]!);
  return first;
};

/** All incidents of one server, those that only telemetry shows included. */
const incidentsOf = (ctx: GroupContext): Incident[] => {
  const { q, all, detection } = ctx;
  const byRequests = mergeOverlapping(findIncidents(q, detection, findLosses(q, all, detection)), q, detection);
  const unusual = byRequests.filter((i) => !isNatural(i, q, ctx.natural, detection));
  const grown = growIncidents(unusual, q, all, detection);
  const lost = disturbedTime(grown, 0);
  return [...grown, ...telemetryIncidents(ctx.group, ctx.view, (t) => valueAt(lost, t) > 0)];
};

/** A run with everything that is known before its incidents are judged. */
export interface ReadRun {
  readonly input: DiagnosisInput;
  readonly view: TelemetryView;
  readonly found: readonly { readonly ctx: GroupContext; readonly incidents: readonly Incident[] }[];
  /** First and last moment, µs. */
  readonly first: number;
  readonly last: number;
}

/** Divides a run by server, finds what was slow, and from there what is usual. */
export const readRun = (given: DiagnosisInput, table: DecisionTable): ReadRun => {
  const input = canonicalTelemetry(given);
  const view = new TelemetryView(input.baseline?.usual);
  const last = lastTime(input);
  const contexts = serverGroups(input)
    .filter((g) => g.rows.length > 0 || g.servers.length > 0)
    .map((g) => groupContext(input, g, view, table, last));
  view.setLags(measureLags(contexts));
  const found = contexts.map((ctx) => ({ ctx, incidents: incidentsOf(ctx) }));
  view.setDisturbed(
    disturbedTime(
      found.flatMap((f) => f.incidents),
      GUARD_US,
    ),
  );
  return { input, view, found, first: firstTime(input), last };
};
