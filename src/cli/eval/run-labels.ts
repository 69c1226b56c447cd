import type { VerdictClass } from "../../../schemas/report.js";

/** The truth of one request. Lists name every class that counts as right, the one that is meant last. */
export interface RequestLabel {
  readonly request_id: string;
  /** True: slow because of the fault. False: undisturbed. Null: in between, not scored. */
  readonly spike: boolean | null;
  readonly ttft: readonly VerdictClass[] | null;
  readonly e2e: readonly VerdictClass[] | null;
}

/** The truth of one run, `labels.json`. */
export interface RunLabels {
  readonly name: string;
  readonly family: string;
  readonly requests: readonly RequestLabel[];
}
