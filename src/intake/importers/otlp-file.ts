import { AppError } from "../../../schemas/error-codes.js";
import { decodeOtlpJson } from "../decode-otlp-json.js";
import { OtlpSyntaxError } from "../decoded-span.js";
import { isOneDocument, readDocument, readLines } from "../input-lines.js";
import { createSpanIntake } from "../span-intake.js";
import { defineImporter } from "./importer.js";

/** The Collector may write all signals to one file. */
const OTHER_SIGNAL = /^\s*\{\s*"resource(?:Metrics|Logs|Profiles)"\s*:/;

/** OTLP/JSON traces: one TracesData a line, as the Collector's file exporter writes, or one request over many lines. */
export const otlpFile = defineImporter({
  name: "otlp-file",
  looks_for: "OTLP/JSON traces (an object with resourceSpans, one a line or one a file)",
  by_line: true,

  recognise(head) {
    return /^\s*\{\s*"resourceSpans"\s*:/.test(head) ? 0.95 : /^\s*\{/.test(head) && /"resourceSpans"\s*:\s*\[/.test(head) ? 0.7 : 0;
  },

  async import(file, context) {
    const source = { name: "otlp-file", node: context.node, run: context.run, interval_ms: null, window_ms: null, lag_ms: null };
    const intake = createSpanIntake({ source, sink: context.sink });
    const refuse = (reason: string) => context.sink.rejected(source, reason, 1);
    const take = (text: string): boolean => {
      try {
        intake.take(decodeOtlpJson(text));
        return true;
      } catch (error) {
        if (error instanceof OtlpSyntaxError) return false;
        throw error;
      }
    };
    const isDocument = await isOneDocument(file, context.limits);
    if (!isDocument || !take(await readDocument(file, context.limits))) {
      let taken = 0;
      for await (const { lines, unterminated } of readLines(file, context.limits, () => refuse("line_too_long"))) {
        lines.forEach((line, i) => {
          if (line.trim() === "") return;
          if (OTHER_SIGNAL.test(line)) refuse("not_traces");
          else if (take(line)) taken++;
          else refuse(unterminated && i === lines.length - 1 ? "truncated" : "syntax");
        });
      }
      // What looked like the opening of a document may be one cut line before others that are whole.
      if (isDocument && taken === 0) throw new AppError("FILE_FORMAT", `${file.path} is no whole OTLP/JSON document`);
    }
    const { requests, ignored } = intake.counts();
    if (requests === 0 && ignored > 0) context.warn(`${ignored} spans, none of which is an LLM request`);
  },
});
