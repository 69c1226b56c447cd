import { AppError } from "../../../schemas/error-codes.js";
import { ExpositionScanner } from "../../text/exposition-scanner.js";
import { readText } from "../input-lines.js";
import { giveCanonical, importMapper } from "./canonical-import.js";
import { defineImporter } from "./importer.js";

const COMMENT = /^#\s*(?:HELP|TYPE|UNIT|EOF)\b/;
const SAMPLE = /^(?:[a-zA-Z_:][\w:]*(?:\s*\{.*\})?|\{\s*".*\})\s+[-+]?(?:\d|\.\d|NaN|Inf)\S*(?:\s+-?\d[\d.eE+]*)?\s*(?:#.*)?$/;
/** Lines of the head that are looked at. */
const LOOKED_AT = 50;
const MIN_SHARE = 0.8;

/** Prometheus text or OpenMetrics with time stamps: all series of a file over time, as exporters name them. */
export const openmetrics = defineImporter({
  name: "openmetrics",
  looks_for: "Prometheus or OpenMetrics text with time stamps (NAME{LABELS} VALUE TIME)",

  recognise(head) {
    if (/^\s*[{[]\s*"?[\w]*"?\s*:/.test(head)) return 0;
    const lines = head.split("\n").slice(0, LOOKED_AT + 1);
    if (lines.length > 1) lines.pop();
    const said = lines.filter((line) => line.trim() !== "");
    const known = said.filter((line) => COMMENT.test(line) || SAMPLE.test(line.trimEnd()));
    return said.length > 0 && known.length >= said.length * MIN_SHARE ? 0.9 : 0;
  },

  async import(file, context) {
    const scanner = new ExpositionScanner({ timestamps: "auto" });
    const mapper = importMapper(context);
    let stamped = 0;
    let bare = 0;
    const visitor = {
      sample(series: Parameters<typeof mapper.sample>[0], value: number, tsUs: number): void {
        if (Number.isNaN(tsUs)) bare++;
        else stamped++;
        mapper.sample(series, value, tsUs);
      },
      type: (name: string, type: string) => mapper.type(name, type),
      error: (error: Parameters<typeof mapper.error>[0]) => mapper.error(error),
    };
    for await (const piece of readText(file)) scanner.push(piece, visitor);
    // A last line without a line feed may have lost digits of its time stamp.
    scanner.end(visitor, true);
    if (stamped === 0 && bare > 0)
      throw new AppError("FILE_FORMAT", `${file.path} has no time stamps, so it cannot be placed in time`, {
        mend: "export it with time stamps, such as by `promtool tsdb dump-openmetrics`, or let `whyslow agent` scrape the target",
      });
    giveCanonical(mapper, context, "openmetrics");
    if (stamped > 0 && mapper.summary().sources.length === 0) context.warn("none of its metrics is known");
  },
});
