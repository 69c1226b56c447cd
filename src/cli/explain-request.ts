import type { DecisionTable } from "../../schemas/decision-table.js";
import type { DiagnosisInput } from "../../schemas/diagnosis-input.js";
import { AppError } from "../../schemas/error-codes.js";
import type { Report } from "../../schemas/report.js";
import type { RequestLife } from "../../schemas/request-life.js";
import { requestLife } from "../diagnose/request-life.js";

const MOST_SUGGESTED = 3;

/** One request's life, slow or not. Throws USAGE for an id that is not there, with ids that look like it. */
export function explainRequest(input: DiagnosisInput, table: DecisionTable, report: Report, requestId: string): RequestLife {
  const life = requestLife(input, table, report, requestId);
  if (life) return life;
  const ids = input.requests.request_id;
  const slow = [...new Set(report.spikes.map((s) => s.request_id))];
  const alike = ids.filter((id) => requestId.length > 2 && (id.includes(requestId) || requestId.includes(id)));
  const shown = (alike.length > 0 ? alike : slow).slice(0, MOST_SUGGESTED);
  const mend =
    shown.length > 0
      ? `${alike.length > 0 ? "did you mean" : "slow ones are"} ${shown.join(", ")}${alike.length > 0 ? "?" : "; --json lists them all"}`
      : "--json lists the ids of all slow requests";
  throw new AppError("USAGE", `there is no request '${requestId}' among the ${ids.length} of this run or range`, { mend });
}
