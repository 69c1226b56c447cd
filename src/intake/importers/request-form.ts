import type { RequestView } from "../../../schemas/requests.js";
import { splitCsvLine } from "../../text/csv-line.js";
import { localZone } from "../../time/civil-time.js";
import { createLocalClock } from "../../time/local-clock.js";
import { parseJsonExact } from "../exact-json.js";
import { readLines } from "../input-lines.js";
import { defineImporter } from "./importer.js";
import { firstObject } from "./json-lines.js";
import { isRequestForm, requestFormRecord } from "./request-form-record.js";
import { RowBatch } from "./row-batch.js";

type Fields = Readonly<Record<string, unknown>>;
const isJson = (text: string): boolean => text.trimStart().startsWith("{");

/** whyslow's own form for requests of any tool: CSV with a header, or an object a line (docs/request-form.md). */
export const requestForm = defineImporter({
  name: "request-form",
  looks_for: "whyslow's request form (CSV or JSON lines with request_id and start, docs/request-form.md)",
  by_line: true,

  recognise(head) {
    const text = head.trimStart();
    if (isJson(text)) return isRequestForm(Object.keys(firstObject(text) ?? {})) ? 0.8 : 0;
    const line = text.slice(0, text.indexOf("\n") < 0 ? undefined : text.indexOf("\n")).replace(/\r$/, "");
    return isRequestForm(splitCsvLine(line) ?? []) ? 0.8 : 0;
  },

  async import(file, context) {
    const source = { name: "request-form", node: context.node, run: context.run, interval_ms: null, window_ms: null, lag_ms: null };
    const refuse = (reason: string) => context.sink.rejected(source, reason, 1);
    const batch = new RowBatch<RequestView>((rows) => context.sink.requests(source, rows));
    const local = createLocalClock(context.clock.zone ?? localZone());
    let names: readonly string[] | null = null;
    for await (const { lines, unterminated } of readLines(file, context.limits, () => refuse("line_too_long"))) {
      lines.forEach((line, i) => {
        if (line.trim() === "") return;
        const broken = unterminated && i === lines.length - 1 ? "truncated" : "syntax";
        let row: Fields | null;
        if (names === null && isJson(line)) row = jsonRow(line);
        else if (names === null) {
          const header = splitCsvLine(line) ?? [];
          if (isRequestForm(header)) names = header;
          else refuse(broken);
          return;
        } else row = csvRow(line, names);
        const view = row === null ? broken : requestFormRecord(row, local);
        if (typeof view === "string") refuse(view);
        else batch.add(view);
      });
    }
    batch.flush();
  },
});

function jsonRow(line: string): Fields | null {
  try {
    const value = parseJsonExact(line);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : null;
  } catch {
    return null;
  }
}

function csvRow(line: string, names: readonly string[]): Fields | null {
  const cells = splitCsvLine(line);
  if (cells === null || cells.length !== names.length) return null;
  return Object.fromEntries(names.map((name, i) => [name, cells[i]!]));
}
