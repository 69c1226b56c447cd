import type { DecisionTable } from "../../schemas/decision-table.js";
import type { DiagnosisInput } from "../../schemas/diagnosis-input.js";
import { AppError } from "../../schemas/error-codes.js";
import type { Report } from "../../schemas/report.js";
import { REQUEST_STATUSES, type RequestView } from "../../schemas/requests.js";
import { diagnose } from "../diagnose/diagnose.js";
import { fitWorkModel } from "../diagnose/work-model.js";
import { someOf } from "../report/number-text.js";
import type { Selection, Store } from "../store/open-store.js";
import { formatIso } from "../time/iso-time.js";
import { toRequestColumns } from "../time/request-columns.js";

export interface CorrelationQuery {
  readonly select: Selection;
  readonly slo_ms: DiagnosisInput["slo_ms"];
  /** Only requests of a server whose labels hold this text. */
  readonly server?: string;
}

/** From the store to the report: reads a run or a range, joins the views, aligns the clocks, diagnoses. */
export function correlate(store: Store, query: CorrelationQuery, table: DecisionTable): Report {
  return diagnose(readDiagnosisInput(store, query), table);
}

export function readDiagnosisInput(store: Store, query: CorrelationQuery): DiagnosisInput {
  const { select } = query;
  const named = "run" in select ? requireRun(store, select.run) : null;
  const allViews = store.read.requestViews(select);
  const views = query.server ? allViews.filter((v) => Object.values(v.server).some((label) => label.includes(query.server!))) : allViews;
  if (query.server !== undefined && views.length === 0 && allViews.length > 0) throw noSuchServer(query.server, allViews);
  const telemetry = store.read.telemetry(select);
  if (views.length === 0 && telemetry.tracks.length === 0)
    throw new AppError("RUN_EMPTY", emptyText(query), { mend: emptyMend(query, allViews.length) });
  const { requests, clock } = toRequestColumns(views, telemetry);
  const warnings: { code: string; text: string }[] = [];
  const open = views.filter((v) => v.status === "open").length;
  if (open > 0) warnings.push({ code: "REQUESTS_OPEN", text: `${open} requests had not finished: their latencies are lower bounds` });
  if (views.length > 0 && telemetry.tracks.length === 0)
    warnings.push({ code: "NO_TELEMETRY", text: "no telemetry covers this range: causes rest on the requests alone" });
  const failed = views.filter((v) => REQUEST_STATUSES.indexOf(v.status) > 0 && v.status !== "open").length;
  if (failed > 0)
    warnings.push({ code: "REQUESTS_FAILED", text: `${failed} requests failed or were cancelled: counted, not judged as latencies` });
  const range = "run" in select ? store.read.range(select) : { start_us: select.from_us, end_us: select.to_us };
  const start_us = named?.start_us ?? range?.start_us ?? null;
  const end_us = named?.end_us ?? range?.end_us ?? null;
  const id = "run" in select ? select.run : `${formatIso(select.from_us)}/${formatIso(select.to_us)}`;
  const limited = named?.manifest.client_limited;
  if (limited !== undefined)
    warnings.push({
      code: "CLIENT_LIMITED",
      text: `the load generator could not keep up (${limited}): its latencies say little about the servers`,
    });
  return { run: { id, start_us, end_us, manifest: named?.manifest ?? {} }, requests, telemetry, clock, warnings, slo_ms: query.slo_ms };
}

/** The same input, judged against the undisturbed part of another run. */
export function againstBaseline(store: Store, input: DiagnosisInput, run: string, table: DecisionTable): DiagnosisInput {
  return { ...input, baseline: fitWorkModel(readDiagnosisInput(store, { select: { run }, slo_ms: {} }), table) };
}

function requireRun(store: Store, id: string): NonNullable<ReturnType<Store["runs"]["get"]>> {
  const run = store.runs.get(id);
  if (run) return run;
  const known = store.runs.list().map((r) => r.id);
  const mend =
    known.length === 0 ? `there is no run yet: 'whyslow import ${id} FILE…' makes one` : `known runs: ${known.slice(-5).join(", ")}`;
  throw new AppError("RUN_UNKNOWN", `no run '${id}' in ${store.file}`, { mend });
}

function noSuchServer(asked: string, views: readonly RequestView[]): AppError {
  const known = [...new Set(views.flatMap((v) => Object.values(v.server)))].sort();
  const mend = known.length === 0 ? "the requests name no server: leave --server out" : `they name: ${someOf(known, 6)}`;
  return new AppError("USAGE", `no request went to a server whose name holds '${asked}'`, { mend });
}

const emptyText = ({ select }: CorrelationQuery): string =>
  "run" in select
    ? `run '${select.run}' holds no requests and no telemetry`
    : `nothing is stored between ${formatIso(select.from_us)} and ${formatIso(select.to_us)}`;

const emptyMend = ({ select, server }: CorrelationQuery, all: number): string =>
  server && all > 0
    ? `no request matches --server ${server}`
    : "run" in select
      ? `import files into it: 'whyslow import ${select.run} FILE…'`
      : "widen the range, or start 'whyslow agent' to have data next time";
