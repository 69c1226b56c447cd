import type { DiagnosisInput } from "../../schemas/diagnosis-input.js";
import { AppError } from "../../schemas/error-codes.js";
import { METRICS, type Metric } from "../../schemas/report.js";
import { parseDurationUs } from "../time/duration.js";

/** Reads `ttft=500ms,itl=50ms` as limits in ms; throws USAGE naming what is wrong. */
export function parseSlo(text: string | undefined): DiagnosisInput["slo_ms"] {
  if (text === undefined) return {};
  const limits: Partial<Record<Metric, number>> = {};
  for (const part of text.split(",")) {
    const [metric = "", value = ""] = part.split("=").map((t) => t.trim());
    const us = parseDurationUs(value);
    if (!METRICS.includes(metric as Metric) || us === null) {
      throw new AppError("USAGE", `--slo '${part.trim()}' is no limit`, {
        mend: `write METRIC=DURATION, as ttft=500ms,itl=50ms; metrics: ${METRICS.join(", ")}`,
      });
    }
    limits[metric as Metric] = us / 1000;
  }
  return limits;
}
