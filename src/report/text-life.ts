import type { Episode } from "../../schemas/report.js";
import type { LifeLoad, LifePhase, RequestLife } from "../../schemas/request-life.js";
import { count, milliseconds, nats, plural, reading } from "./number-text.js";
import { type Paint, plain, shorten, table, wrap } from "./text-layout.js";
import { episodePhrase } from "./verdict-sentence.js";
import { METRIC_TEXT, PHASE_TEXT } from "./wording.js";

const MIN_BAR = 8;
const MAX_BAR = 40;

/** One request's life for a terminal of `width` columns: phases, what ran beside it, the evidence of its episodes. */
export function lifeText(life: RequestLife, width: number, paint: Paint = plain): string {
  const lines = [
    ...wrap(heading(life), width, "", "  ").map((l) => paint.bold(l)),
    ...wrap(verdict(life), width, "  ").map((l) => paint.colour(life.slow ? "red" : "green", l)),
    "",
    ...fitted(metricRows(life), width, [1, 2, 3]),
    "",
    ...phaseLines(life.phases, width),
    "",
    "  beside it",
    ...fitted(life.beside.map(loadRow), width, [1, 2, 3]),
    ...wrap(queueText(life), width, "  ", "    "),
  ];
  for (const e of life.episodes) lines.push("", ...episodeLines(e, width, paint));
  return `${lines.map((l) => l.trimEnd()).join("\n")}\n`;
}

function heading(life: RequestLife): string {
  const { input, cached, output } = life.tokens;
  const tokens = [
    input === null ? "" : `${count(input)} tokens in${cached ? ` (${count(cached)} cached)` : ""}`,
    output === null ? "" : `${count(output)} out`,
  ].filter(Boolean);
  const where = [life.server && `on ${life.server}`, life.model && `model ${life.model}`].filter(Boolean).join(", ");
  return `request ${life.request_id}${where ? ` ${where}` : ""}; sent ${life.sent.slice(0, 23)}Z; ${life.status}${tokens.length > 0 ? `; ${tokens.join(", ")}` : ""}`;
}

function verdict(life: RequestLife): string {
  const bound = life.censored ? "; it did not finish, so that its latencies are lower bounds" : "";
  if (!life.slow) {
    const passed = life.passed.length > 0 ? `; it ran through ${plural(life.passed.length, "episode")} of its server unharmed` : "";
    return `not slow: what its own work explains at the usual load${passed}${bound}`;
  }
  const worst = life.metrics.filter((m) => m.slow).map((m) => METRIC_TEXT[m.metric]);
  const why = life.episodes.map(episodePhrase);
  return `slow (${worst.join(", ")}): ${why.join("; ")}${bound}`;
}

const metricRows = (life: RequestLife): string[][] => [
  ["metric", "observed", "expected", "ratio", ""],
  ...life.metrics.map((m) => [
    METRIC_TEXT[m.metric],
    `${life.censored ? ">= " : ""}${milliseconds(m.observed_ms)}`,
    milliseconds(m.expected_ms),
    m.expected_ms !== null && m.expected_ms > 0 ? `${reading(m.observed_ms / m.expected_ms)}x` : "",
    m.slow ? "slow" : "",
  ]),
];

const phaseName = (phase: LifePhase["phase"]): string => (phase === "first_token" ? "until first token" : PHASE_TEXT[phase]);

function phaseLines(phases: readonly LifePhase[], width: number): string[] {
  const rows = [
    ["phase", "from", "took", "expected"],
    ...phases.map((p) => [phaseName(p.phase), `+${milliseconds(p.start_ms)}`, milliseconds(p.observed_ms), milliseconds(p.expected_ms)]),
  ];
  const lines = table(rows, [1, 2, 3], "  ");
  const widest = Math.max(...lines.map((l) => l.length));
  const room = Math.min(MAX_BAR, width - widest - 2);
  const end = Math.max(...phases.map((p) => p.start_ms + p.observed_ms), 0);
  if (room < MIN_BAR || !(end > 0)) return lines;
  return lines.map((line, i) => (i === 0 ? line : `${line.padEnd(widest)}  ${bar(phases[i - 1]!, end, room)}`));
}

/** Where in the request's life a phase lies. */
function bar(phase: LifePhase, end_ms: number, room: number): string {
  const from = Math.floor((phase.start_ms / end_ms) * room);
  const to = Math.ceil(((phase.start_ms + phase.observed_ms) / end_ms) * room);
  return " ".repeat(Math.min(from, room - 1)) + (phase.observed_ms > 0 ? "#".repeat(Math.max(1, Math.min(room, to) - from)) : "|");
}

const amount = (value: number | null, unit: LifeLoad["unit"]): string =>
  value === null ? "-" : unit === "ratio" ? `${(value * 100).toFixed(0)}%` : unit === "tokens" ? count(value) : reading(value);

const loadRow = (l: LifeLoad): string[] => [
  `  ${l.what}`,
  amount(l.mean, l.unit),
  `most ${amount(l.most, l.unit)}`,
  `usually ${amount(l.usual, l.unit)}`,
];

function queueText({ ahead, prefills }: RequestLife): string {
  const queue = `${plural(ahead, "request")} waited for a first token when it arrived`;
  if (prefills === null || prefills.total === 0) return `${queue}.`;
  const longest = prefills.longest.map(
    (p) => `${shorten(p.request_id, 24)} ${p.tokens === null ? "" : `(${count(p.tokens)} tokens) `}${milliseconds(p.overlap_ms)}`,
  );
  return `${queue}; ${plural(prefills.total, "prefill")} of others in its life, ${count(prefills.tokens)} tokens, the longest ${longest.join(", ")}.`;
}

function episodeLines(e: Episode, width: number, paint: Paint): string[] {
  const head = `its episode ${e.start.slice(11, 23)} to ${e.end.slice(11, 23)}, ${plural(e.requests, "request")}: ${episodePhrase(e)}`;
  const heard = e.evidence.filter((row) => row.weight_nats !== 0);
  const mute = e.evidence.filter((row) => row.weight_nats === 0).map((row) => row.fact);
  const rows = [
    ["  weight", "fact", "value", "expected", "source"],
    ...heard.map((row) => [nats(row.weight_nats), row.fact, reading(row.value), reading(row.expected), row.source]),
  ];
  return [
    ...wrap(head, width, "  ", "    ").map((l) => paint.bold(l)),
    ...(heard.length > 0 ? fitted(rows, width, [0, 2, 3]) : []),
    ...(mute.length > 0 ? wrap(`without weight: ${mute.join(", ")}`, width, "  ", "    ").map((l) => paint.dim(l)) : []),
    ...(e.remedy ? wrap(`remedy: ${e.remedy.text}`, width, "  ", "    ") : []),
    ...(e.measure_next ? wrap(`measure next: ${e.measure_next}`, width, "  ", "    ") : []),
  ];
}

/** A table whose widest text column gives way until it fits. */
function fitted(rows: readonly (readonly string[])[], width: number, right: readonly number[]): string[] {
  let cells = rows;
  for (const column of [rows[0] ? rows[0].length - 1 : 0, 1, 0]) {
    const lines = table(cells, right, "  ");
    const over = Math.max(...lines.map((l) => l.length), 0) - width;
    if (over <= 0) return lines;
    const widest = Math.max(...cells.map((r) => r[column]?.length ?? 0));
    const left = Math.max(8, widest - over);
    cells = cells.map((r) => r.map((cell, i) => (i === column ? shorten(cell, left) : cell)));
  }
  return table(cells, right, "  ").map((l) => l.slice(0, width));
}
