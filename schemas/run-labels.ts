import { z } from "zod";
import { CLASSES } from "./report.js";

const classes = z.array(z.enum(CLASSES)).min(1).nullable();

/** The truth of one request. */
export const requestLabelSchema = z.object({
  request_id: z.string(),
  /** True: slow because of the fault. False: undisturbed and not slow for its work. Null: in between, not scored. */
  spike: z.boolean().nullable(),
  /** Classes that count as right for its TTFT and for its E2E, the one that is meant last; null: not slow in that, or no clear cause. */
  ttft: classes,
  e2e: classes,
});

/** `labels.json` of a labelled run, beside the run's own files. Other keys may stand there and are not read. */
export const runLabelsSchema = z.looseObject({
  name: z.string(),
  /** What was done to the run; runs of one family are counted together. */
  family: z.string(),
  requests: z.array(requestLabelSchema),
});

export interface RequestLabel {
  readonly request_id: string;
  readonly spike: boolean | null;
  readonly ttft: readonly (typeof CLASSES)[number][] | null;
  readonly e2e: readonly (typeof CLASSES)[number][] | null;
}
export interface RunLabels {
  readonly name: string;
  readonly family: string;
  readonly requests: readonly RequestLabel[];
}
