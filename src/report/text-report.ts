import type { Report } from "../../schemas/report.js";
import { count, milliseconds, percent, plural, someOf } from "./number-text.js";
import { episodeLines } from "./text-episode.js";
import { type Paint, plain, table, wrap } from "./text-layout.js";
import { excessByClass, remedies, verdictSentence } from "./verdict-sentence.js";
import { CLASS_TEXT, METRIC_TEXT } from "./wording.js";

/** Episodes told in full; the rest is counted and is in the JSON. */
const MAX_EPISODES = 8;
const MAX_ADVICE = 6;

/** The report for a terminal: verdict first, then episodes with their evidence, percentiles and data quality. */
export function textReport(report: Report, options: { width?: number; paint?: Paint } = {}): string {
  const width = Math.max(60, Math.min(options.width ?? 100, 140));
  const paint = options.paint ?? plain;
  return `${[
    ...headLines(report, width, paint),
    "",
    ...verdictLines(report, width, paint),
    ...episodesLines(report, width, paint),
    "",
    paint.bold("LATENCY"),
    ...latencyLines(report),
    "",
    paint.bold("DATA"),
    ...dataLines(report, width, paint),
  ].join("\n")}\n`;
}

function headLines(report: Report, width: number, paint: Paint): string[] {
  const { run } = report;
  const span = run.start && run.end ? `${run.start.slice(0, 19).replace("T", " ")} to ${sameDay(run.start, run.end)} UTC` : "no time range";
  const m = run.manifest;
  const object = [
    m.model,
    m.engine && `${m.engine} ${m.engine_version ?? ""}`.trim(),
    m.gpu_model && `${m.gpu_count ? `${m.gpu_count}x ` : ""}${m.gpu_model}`,
  ]
    .filter(Boolean)
    .join(", ");
  const id = run.id.includes("/") ? "" : `${run.id}, `;
  return [
    ...wrap(`whyslow ${id}${span}, ${plural(report.data.requests, "request")}`, width, "", "  ").map((l) => paint.bold(l)),
    ...(object ? wrap(object, width).map((l) => paint.dim(l)) : []),
  ];
}

const sameDay = (start: string, end: string): string =>
  start.slice(0, 10) === end.slice(0, 10) ? end.slice(11, 19) : end.slice(0, 19).replace("T", " ");

function verdictLines(report: Report, width: number, paint: Paint): string[] {
  const lines = wrap(verdictSentence(report), width).map((l) => paint.bold(l));
  const classes = excessByClass(report);
  const total = classes.reduce((sum, c) => sum + c.excess_ms, 0);
  if (classes.length > 1 && total > 0) {
    const bar = width < 90 ? 10 : 30;
    const rows = classes.map((c) => [
      "  ",
      CLASS_TEXT[c.class],
      "#".repeat(Math.max(1, Math.round((c.excess_ms / total) * bar))).padEnd(bar),
      percent(c.excess_ms / total),
      milliseconds(c.excess_ms),
      plural(c.episodes, "episode"),
    ]);
    lines.push(...table(rows, [3, 4]));
  }
  const advice = remedies(report);
  if (advice.length > 0) {
    lines.push("", paint.bold("WHAT TO DO"));
    advice
      .slice(0, MAX_ADVICE)
      .forEach((r, i) => lines.push(...wrap(`${i + 1}. ${r.text} (addresses ${milliseconds(r.addresses_ms)})`, width, "  ", "     ")));
    if (advice.length > MAX_ADVICE)
      lines.push(paint.dim(`  and ${plural(advice.length - MAX_ADVICE, "smaller remedy", "smaller remedies")}: see the episodes`));
  }
  return lines;
}

function episodesLines(report: Report, width: number, paint: Paint): string[] {
  if (report.episodes.length === 0) return [];
  const shown =
    report.episodes.length <= MAX_EPISODES
      ? report.episodes
      : [...report.episodes].sort((a, b) => b.excess_ms - a.excess_ms).slice(0, MAX_EPISODES);
  const lines = ["", paint.bold("EPISODES")];
  shown.forEach((e, i) => lines.push(...(i > 0 ? [""] : []), ...episodeLines(e, i + 1, width, paint)));
  if (shown.length < report.episodes.length)
    lines.push("", paint.dim(`  and ${plural(report.episodes.length - shown.length, "smaller episode")}: see --json`));
  return lines;
}

function latencyLines(report: Report): string[] {
  const rows = [["", "p50", "p95", "p99", "mean", "max", "n"]];
  for (const metric of ["ttft", "itl", "tpot", "queue", "e2e"] as const) {
    const p = report.summary[`${metric}_ms`];
    if (p.n === 0) continue;
    const few = (v: number | null): string => (v === null ? "too few" : milliseconds(v));
    rows.push([METRIC_TEXT[metric], few(p.p50), few(p.p95), few(p.p99), milliseconds(p.mean), milliseconds(p.max), count(p.n)]);
  }
  return rows.length > 1 ? table(rows, [1, 2, 3, 4, 5, 6], "  ") : ["  no latency was recorded"];
}

function dataLines(report: Report, width: number, paint: Paint): string[] {
  const { data } = report;
  const ms = (v: number | null): string => (v === null ? "-" : milliseconds(v));
  const full = width >= 90;
  const rows = [
    ["source", "of", ...(full ? ["entities", "samples"] : []), "interval", ...(full ? ["window", "lag"] : []), "coverage", "rejected"],
  ];
  for (const s of data.sources)
    rows.push([
      s.source,
      s.entity_kind,
      ...(full ? [count(s.entities), count(s.samples)] : []),
      ms(s.interval_ms),
      ...(full ? [ms(s.window_ms), ms(s.lag_ms)] : []),
      percent(s.coverage),
      count(s.rejected ?? 0),
    ]);
  const lines = rows.length > 1 ? table(rows, [2, 3, 4, 5, 6, 7, 8], "  ") : ["  no telemetry"];
  const { offset_ms, uncertainty_ms, method } = data.clock;
  lines.push(
    `  clock: ${offset_ms === null ? `offset not measured (${method})` : `client moved by ${offset_ms.toFixed(1)} ms${uncertainty_ms === null ? "" : ` (true value within ${uncertainty_ms.toFixed(1)} ms)`}, by ${method}`}${data.joined ? `, ${plural(data.joined, "request")} seen from both sides` : ""}`,
  );
  if (data.missing.length > 0)
    lines.push(...wrap(`no input could tell: ${someOf(data.missing, 12)}`, width, "  ", "    ").map((l) => paint.dim(l)));
  for (const w of data.warnings) lines.push(...wrap(`${w.code}: ${w.text}`, width, "  ! ", "    ").map((l) => paint.colour("yellow", l)));
  return lines;
}
