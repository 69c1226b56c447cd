import type { Report } from "../../../schemas/report.js";
import type { RequestColumns } from "../../../schemas/requests.js";
import type { Telemetry } from "../../../schemas/telemetry.js";
import { episodePhrase } from "../verdict-sentence.js";
import { CLASS_ORDER } from "./class-mark.js";
import type { NumberedEpisode } from "./episodes-section.js";
import { type Lane, telemetryLanes } from "./lane-lines.js";
import { LANE_SPECS } from "./lane-specs.js";
import type { DotData, EpisodeSpan, LaneData, MarkData, PageData, SeriesData, TableData, TableRequest, TableRow } from "./page-data.js";
import { ColumnPacker, GAP_LEVEL, LEVELS } from "./payload-codec.js";
import { reduceLine, type Span } from "./reduce-line.js";
import { requestDots, worstGaps } from "./request-dots.js";
import { requestRows, tableRequest } from "./request-rows.js";
import { microseconds } from "./time-text.js";

export interface ReportInput {
  readonly report: Report;
  readonly requests: RequestColumns;
  readonly telemetry: Telemetry;
}

/** Points of all lines together; each is one or two values. */
const TELEMETRY_POINTS = 100_000;
const FEWEST_POINTS = 300;
const MOST_POINTS = 4000;
const MAX_MARKS = 500;

/** The data of the page's script, packed. */
export function buildPageData(input: ReportInput, listed: readonly NumberedEpisode[], articles: readonly NumberedEpisode[]): Uint8Array {
  const { telemetry } = input;
  const range = timeRange(input);
  const tick_us = Math.max(100, Math.ceil((range.to_us - range.from_us) / 2 ** 31));
  const tick = (us: number): number => Math.max(0, Math.round((us - range.from_us) / tick_us));
  const packer = new ColumnPacker();
  const withArticle = new Set(articles.map((a) => a.number));
  const spans = listed.map(({ number, episode }) => episodeSpan(number, episode, tick));
  const slowFirst = [...listed].sort((a, b) => b.episode.excess_ms - a.episode.excess_ms);
  const detail = slowFirst.map(({ episode: e }) => around(microseconds(e.start), microseconds(e.end)));
  const lanes = telemetryLanes(telemetry.tracks, LANE_SPECS);
  const data: PageData = {
    t0_us: range.from_us,
    tick_us,
    span: tick(range.to_us),
    ...requestData(input, listed, packer, tick),
    lanes: lanes.map((lane) => laneData(lane, pointsALine(lanes), range, detail, packer, tick)),
    episodes: spans,
    further: listed.filter((l) => !withArticle.has(l.number)),
    marks: markData(telemetry, range, tick),
  };
  return packer.pack(data);
}

/** The run, widened to its requests; of telemetry alone where there is neither. */
function timeRange({ report, requests, telemetry }: ReportInput): Span {
  let from = report.run.start === null ? Number.POSITIVE_INFINITY : microseconds(report.run.start);
  let to = report.run.end === null ? Number.NEGATIVE_INFINITY : microseconds(report.run.end);
  for (let i = 0; i < requests.n; i++) {
    if (requests.arrival_us[i]! < from) from = requests.arrival_us[i]!;
    const end = Number.isFinite(requests.end_us[i]!) ? requests.end_us[i]! : requests.arrival_us[i]!;
    if (end > to) to = end;
  }
  if (!(to >= from))
    for (const { ts_us } of telemetry.tracks) {
      from = Math.min(from, ts_us[0] ?? from);
      to = Math.max(to, ts_us.at(-1) ?? to);
    }
  return to >= from ? { from_us: Math.floor(from), to_us: Math.max(Math.ceil(to), Math.floor(from) + 1000) } : { from_us: 0, to_us: 1e6 };
}

/** An episode and as long again on both sides. */
const around = (from_us: number, to_us: number): Span => ({ from_us: from_us - (to_us - from_us), to_us: to_us + (to_us - from_us) });

function requestData(
  { report, requests }: ReportInput,
  listed: readonly NumberedEpisode[],
  packer: ColumnPacker,
  tick: (us: number) => number,
): { dots: DotData; table: TableData } {
  const gaps = worstGaps(requests);
  const rows = requestRows(report, requests, CLASS_ORDER);
  const dots = requestDots(requests, gaps, rows.slow);
  const dotOf = new Map<number, number>();
  const listedRows = new Set([...rows.spike_row, ...rows.slow_rows]);
  dots.row.forEach((row, dot) => {
    if (listedRows.has(row)) dotOf.set(row, dot);
  });
  const table: TableRequest[] = [];
  const indexOf = new Map<number | string, number>();
  const request = (key: number | string, make: () => TableRequest): number => {
    let index = indexOf.get(key);
    if (index === undefined) {
      index = table.push(make()) - 1;
      indexOf.set(key, index);
    }
    return index;
  };
  const fromRow = (row: number): number =>
    request(row, () => tableRequest(requests, gaps, row, tick(requests.arrival_us[row]!), dotOf.get(row) ?? -1));
  const numberOf = new Map(listed.map(({ number, episode }) => [episode.id, number]));
  const tableRows: TableRow[] = rows.spikes.map((s, i) => {
    const row = rows.spike_row[i]!;
    const index =
      row >= 0
        ? fromRow(row)
        : request(s.request_id, () => [s.request_id, tick(microseconds(s.start)), null, null, null, null, null, null, -1]);
    const { metric, observed_ms, expected_ms, excess_ms, class: c, cause, confidence, censored } = s;
    const episode = s.episode === null ? 0 : (numberOf.get(s.episode) ?? 0);
    return [index, { metric, observed_ms, expected_ms, excess_ms, class: c, cause, confidence, censored, episode }];
  });
  for (const row of rows.slow_rows) tableRows.push([fromRow(row), null]);
  return {
    dots: {
      n: dots.row.length,
      time_column: packer.add(
        Float64Array.from(dots.row, (i) => tick(requests.arrival_us[i]!)),
        4,
        true,
      ),
      class_column: packer.add(
        Uint8Array.from(dots.row, (i) => rows.class_code[i]!),
        1,
      ),
      lanes: dots.lanes.map(({ id, title, step, max }) => ({ id, title, max, value_column: packer.add(step, 2) })),
    },
    table: {
      requests: table,
      rows: tableRows,
      spikes_total: report.spikes.length,
      spikes_shown: rows.spikes.length,
      slowest: rows.slow_rows.length,
    },
  };
}

const pointsALine = (lanes: readonly Lane[]): number =>
  Math.max(
    FEWEST_POINTS,
    Math.min(
      MOST_POINTS,
      Math.floor(
        TELEMETRY_POINTS /
          Math.max(
            1,
            lanes.reduce((sum, lane) => sum + lane.lines.length, 0),
          ),
      ),
    ),
  );

function laneData(
  lane: Lane,
  points: number,
  range: Span,
  detail: readonly Span[],
  packer: ColumnPacker,
  tick: (us: number) => number,
): LaneData {
  const series: SeriesData[] = [];
  for (const { name, source, series: full } of lane.lines) {
    const line = reduceLine(full, points, range, detail);
    const low = line.low.filter(Number.isFinite);
    if (low.length === 0) continue;
    const min = low.reduce((a, b) => Math.min(a, b));
    const max = line.high.filter(Number.isFinite).reduce((a, b) => Math.max(a, b));
    const levels = (values: Float64Array): Uint16Array =>
      Uint16Array.from(values, (v) => (Number.isFinite(v) ? (max > min ? Math.round(((v - min) / (max - min)) * LEVELS) : 0) : GAP_LEVEL));
    series.push({
      name,
      source,
      min,
      max,
      mean: full.value.reduce((a, b) => a + b, 0) / full.n,
      time_column: packer.add(Float64Array.from(line.at_us, tick), 4, true),
      high_column: packer.add(levels(line.high), 2),
      low_column: line.exact ? null : packer.add(levels(line.low), 2),
    });
  }
  const note = [lane.note, lane.left_out > 0 && `${lane.left_out} more lines are not drawn`].filter(Boolean).join("; ");
  return { id: lane.spec.id, title: lane.spec.title, unit: lane.spec.unit, note, series };
}

const episodeSpan = (number: number, e: NumberedEpisode["episode"], tick: (us: number) => number): EpisodeSpan => ({
  number,
  id: e.id,
  from: tick(microseconds(e.start)),
  to: tick(microseconds(e.end)),
  class: e.class,
  label: episodePhrase(e),
  excess_ms: e.excess_ms,
});

const markData = ({ marks }: Telemetry, range: Span, tick: (us: number) => number): MarkData[] =>
  marks
    .filter((m) => m.ts_us >= range.from_us && m.ts_us <= range.to_us)
    .slice(0, MAX_MARKS)
    .map((m) => ({ at: tick(m.ts_us), kind: m.kind, text: m.text, node: m.node }));
