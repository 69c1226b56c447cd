import type { RequestView } from "../../schemas/requests.js";
import type { SourceSpec } from "../../schemas/samples.js";
import type { Sink } from "../../schemas/sink.js";
import type { DecodedExport } from "./decoded-span.js";
import { spanToRequest } from "./span-to-request.js";

/** Spans since the start. Ignored ones are no LLM requests; refused ones were broken. */
export interface SpanCounts {
  requests: number;
  ignored: number;
  rejected: number;
}

export interface SpanIntake {
  /** Hands the requests of one decoded export to the sink; gives how many spans were refused in it, by reason. */
  take(decoded: DecodedExport): Readonly<Record<string, number>>;
  counts(): Readonly<SpanCounts>;
}

/** From decoded spans to the sink; shared by both receivers and the file importer. */
export function createSpanIntake(options: { readonly source: SourceSpec; readonly sink: Sink }): SpanIntake {
  const { source, sink } = options;
  const counts: SpanCounts = { requests: 0, ignored: 0, rejected: 0 };
  return {
    take(decoded) {
      const views: RequestView[] = [];
      const rejected: Record<string, number> = { ...decoded.rejected };
      for (const span of decoded.spans) {
        const verdict = spanToRequest(span);
        if (verdict.kind === "request") views.push(verdict.view);
        else if (verdict.kind === "ignored") counts.ignored++;
        else rejected[verdict.reason] = (rejected[verdict.reason] ?? 0) + 1;
      }
      if (views.length > 0) sink.requests(source, views);
      counts.requests += views.length;
      for (const [reason, count] of Object.entries(rejected)) {
        sink.rejected(source, reason, count);
        counts.rejected += count;
      }
      return rejected;
    },
    counts: () => ({ ...counts }),
  };
}
