import { type StepFunction, sumOfBoxes } from "../core/step-function.js";
import type { GroupRequests } from "./group-requests.js";

/** What the request trace alone says about the server's load at any time: the only source without sampling error. */
export interface TraceLoad {
  /** Requests that wait for their first token. */
  readonly pending: StepFunction;
  /** Requests in decode: B(t). */
  readonly decoding: StepFunction;
  /** Context tokens of the requests in decode, each at its mean length: K(t). */
  readonly resident: StepFunction;
  /** Requests sent and not finished. */
  readonly inFlight: StepFunction;
}

export const traceLoad = (q: GroupRequests): TraceLoad => {
  const context = new Float64Array(q.n);
  for (let i = 0; i < q.n; i++) {
    const output = Number.isFinite(q.output[i]!) ? q.output[i]! : 0;
    context[i] = (Number.isFinite(q.input[i]!) ? q.input[i]! : 0) + output / 2;
  }
  return {
    pending: sumOfBoxes(q.arrival, q.first, null),
    decoding: sumOfBoxes(q.first, q.end, null),
    resident: sumOfBoxes(q.first, q.end, context),
    inFlight: sumOfBoxes(q.arrival, q.end, null),
  };
};
