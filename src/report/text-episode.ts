import type { Episode, Evidence } from "../../schemas/report.js";
import { milliseconds, nats, percent, plural, reading, someOf } from "./number-text.js";
import { type Paint, shorten, table, wrap } from "./text-layout.js";
import { episodePhrase } from "./verdict-sentence.js";
import { CLASS_TEXT, METRIC_TEXT, PHASE_TEXT } from "./wording.js";

/** Evidence rows told per episode, the heaviest first. */
const MAX_EVIDENCE = 7;
const MAX_MISSING = 6;

/** One episode for a terminal: what, when, where the time went, what speaks for and against, what else it could be. */
export function episodeLines(e: Episode, number: number, width: number, paint: Paint): string[] {
  const clock = (iso: string): string => iso.slice(11, 23);
  const head = `${number}. ${clock(e.start)} to ${clock(e.end)}  ${METRIC_TEXT[e.metric]}${e.level_shift ? " (level shift)" : ""}`;
  const tint = e.class === "indeterminate" ? ("yellow" as const) : e.band === "high" ? ("red" as const) : ("cyan" as const);
  const lines = [
    ...wrap(`${head}, ${plural(e.requests, "request")}, ${milliseconds(e.excess_ms)} of excess`, width, "", "   ").map((l) =>
      paint.bold(l),
    ),
    ...wrap(episodePhrase(e), width, "   ").map((l) => paint.colour(tint, l)),
  ];
  const about = [e.driver && `driver: ${e.driver}`, e.mixed && `mixed: ${e.mixed}`, e.server && `server: ${e.server}`, phases(e)].filter(
    Boolean,
  );
  if (e.after_mark) about.push(`after ${e.after_mark.kind} (${milliseconds(e.after_mark.before_ms)} before): ${e.after_mark.text}`);
  if (about.length > 0) lines.push(...wrap(about.join("; "), width, "   "));
  lines.push(...evidenceLines(e.evidence, width, paint));
  if (e.runner_up)
    lines.push(
      ...wrap(
        `runner-up: ${CLASS_TEXT[e.runner_up.class]} ${percent(e.runner_up.confidence)}, separated by ${e.runner_up.separated_by}`,
        width,
        "   ",
        "     ",
      ),
    );
  if (e.caused_by.length > 0)
    lines.push(
      ...wrap(
        `caused by: ${e.caused_by
          .slice(0, 3)
          .map((c) => `${shorten(c.what, 48)} ${percent(c.share)}`)
          .join(", ")}`,
        width,
        "   ",
        "     ",
      ),
    );
  if (e.remedy) lines.push(...wrap(`remedy: ${e.remedy.text} (addresses ${milliseconds(e.remedy.addresses_ms)})`, width, "   ", "     "));
  if (e.missing.length > 0)
    lines.push(...wrap(`not measured: ${someOf(e.missing, MAX_MISSING)}`, width, "   ", "     ").map((l) => paint.dim(l)));
  if (e.measure_next) lines.push(...wrap(`measure next: ${e.measure_next}`, width, "   ", "     "));
  return lines;
}

function phases(e: Episode): string {
  const shares = Object.entries(e.phases)
    .filter(([, share]) => share >= 0.005)
    .sort((a, b) => b[1] - a[1]);
  return shares.length > 0
    ? `time lost in ${shares.map(([p, share]) => `${PHASE_TEXT[p as keyof typeof PHASE_TEXT]} ${percent(share)}`).join(", ")}`
    : "";
}

function evidenceLines(evidence: readonly Evidence[], width: number, paint: Paint): string[] {
  const heavy = [...evidence]
    .filter((row) => Math.abs(row.weight_nats) >= 0.05)
    .sort((a, b) => Math.abs(b.weight_nats) - Math.abs(a.weight_nats));
  if (heavy.length === 0) return [];
  // A narrow terminal loses the qualities before it loses a source.
  const narrow = width < 90;
  const rows = heavy
    .slice(0, MAX_EVIDENCE)
    .map((row) => [
      nats(row.weight_nats),
      row.fact,
      reading(row.value),
      row.expected === null ? "" : narrow ? `(${reading(row.expected)})` : `(expected ${reading(row.expected)})`,
      ...(narrow ? [] : [`quality ${row.quality.toFixed(2)}`]),
      shorten(row.source, narrow ? 16 : 28),
    ]);
  const lines = table(rows, [0, 2], "   ");
  const rest = heavy.length - MAX_EVIDENCE;
  return rest > 0 ? [...lines, paint.dim(`   and ${plural(rest, "weaker row")}`)] : lines;
}
