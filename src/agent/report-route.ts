import { AppError } from "../../schemas/error-codes.js";
import { parseDurationUs } from "../time/duration.js";
import { parseIso } from "../time/iso-time.js";
import { type Answer, jsonAnswer, jsonError, type Route } from "./http-api.js";

/** A closed interval of time, integer µs since the epoch. */
export interface ReportRange {
  readonly from_us: number;
  readonly to_us: number;
}

const PARAMETERS = ["since", "from", "to"];

/** The range that a query asks for; a text when it cannot be understood. */
export function readRange(query: URLSearchParams, nowUs: number): ReportRange | string {
  const unknown = [...query.keys()].find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined) return `unknown parameter "${unknown.slice(0, 50)}"; known: ${PARAMETERS.join(", ")}`;
  const since = query.get("since");
  const from = query.get("from");
  const to = query.get("to");
  if ((since === null) === (from === null)) return "give either since=30m, or from=TIME and to=TIME";
  if (since !== null) {
    if (to !== null) return "since ends now: leave out to";
    const us = parseDurationUs(since);
    return us === null ? `since: "${since.slice(0, 50)}" is no duration; write e.g. 30m` : { from_us: nowUs - us, to_us: nowUs };
  }
  const fromUs = parseIso(from!);
  const toUs = to === null ? nowUs : parseIso(to);
  if (fromUs === null || toUs === null) return "times are ISO 8601 with their zone, e.g. 2026-01-31T12:00:00Z";
  return fromUs < toUs ? { from_us: fromUs, to_us: toUs } : "from must be before to";
}

/** `/api/v1/report`: one at a time, because a report may take all of a core. */
export function reportRoute(deps: { report(range: ReportRange): Promise<unknown>; nowUs(): number }): Route {
  let busy = false;
  return {
    path: "/api/v1/report",
    help: "the post-mortem of a range: ?since=30m, or ?from=TIME&to=TIME",
    async answer(query): Promise<Answer> {
      const range = readRange(query, deps.nowUs());
      if (typeof range === "string") return jsonError(400, "USAGE", range);
      if (busy) return { ...jsonError(503, "BUSY", "another report is being made; try again"), headers: { "retry-after": "5" } };
      busy = true;
      try {
        return jsonAnswer(await deps.report(range));
      } catch (error) {
        if (!(error instanceof AppError) || error.code === "INTERNAL") throw error;
        return jsonError(error.exitStatus === 2 ? 400 : error.code === "RUN_EMPTY" ? 404 : 500, error.code, error.message);
      } finally {
        busy = false;
      }
    },
  };
}
