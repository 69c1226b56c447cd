import type { Track } from "../../../schemas/telemetry.js";
import { EMPTY_SERIES, type IntervalSeries, levelSeries, rateSeries, ratioSeries, type SeriesTiming } from "../../core/interval-series.js";
import { measureRefresh } from "../../core/refresh.js";
import { entityNames } from "./entity-name.js";
import type { LaneSpec, LineSpec } from "./lane-specs.js";

/** One line of a lane at full resolution. */
export interface Line {
  readonly name: string;
  readonly source: string;
  readonly series: IntervalSeries;
}

export interface Lane {
  readonly spec: LaneSpec;
  readonly note: string;
  readonly lines: readonly Line[];
  /** Lines that were not drawn because there are too many. */
  readonly left_out: number;
}

/** Lines of a lane; more could not be told apart. */
const MAX_LINES = 16;

/** The lanes that the telemetry can fill. Where several sources tell the same of an entity, the one with most readings does. */
export function telemetryLanes(tracks: readonly Track[], specs: readonly LaneSpec[]): Lane[] {
  const timings = new Map<Track, SeriesTiming>();
  const timing = (track: Track): SeriesTiming => {
    let t = timings.get(track);
    if (t === undefined) {
      const window_ms = track.source.window_ms;
      t = {
        refresh: measureRefresh(track),
        lag_us: (track.source.lag_ms ?? 0) * 1000,
        window_us: window_ms === null ? Number.NaN : window_ms * 1000,
      };
      timings.set(track, t);
    }
    return t;
  };
  const names = entityNames(tracks.map((t) => t.entity));
  const lanes: Lane[] = [];
  for (const spec of specs) {
    for (const { lines: wanted, note } of spec.alternatives) {
      const lines = wanted.flatMap((line) => linesOf(line, tracks, timing, names));
      if (lines.length === 0) continue;
      if (spec.quietWhenZero && lines.every((l) => l.series.value.every((v) => v === 0))) break;
      const kept = lines.length <= MAX_LINES ? lines : liveliest(lines);
      lanes.push({ spec, note: note ?? "", lines: kept, left_out: lines.length - kept.length });
      break;
    }
  }
  return lanes;
}

function linesOf(
  spec: LineSpec,
  tracks: readonly Track[],
  timing: (track: Track) => SeriesTiming,
  names: (track: Track["entity"]) => string,
): Line[] {
  const best = new Map<string, Line>();
  for (const track of tracks) {
    if (track.entity.kind !== spec.kind || !spec.columns.some((c) => track.columns[c])) continue;
    const series = seriesOf(spec, track, timing(track));
    if (series.n === 0) continue;
    const key = `${track.entity.node}\u0000${track.entity.key}`;
    if (series.n <= (best.get(key)?.series.n ?? 0)) continue;
    const name = [names(track.entity), spec.part].filter(Boolean).join(" ");
    best.set(key, { name, source: track.source.name, series });
  }
  return [...best.values()].sort((a, b) => BY_NAME.compare(a.name, b.name));
}

/** GPU 2 before GPU 10. */
const BY_NAME = new Intl.Collator("en", { numeric: true });

function seriesOf(spec: LineSpec, track: Track, timing: SeriesTiming): IntervalSeries {
  const make = spec.rate ? rateSeries : levelSeries;
  const parts = spec.columns.map((c) => make(track, c, timing)).filter((s) => s.n > 0);
  const sum = parts.slice(1).reduce(addSeries, parts[0] ?? EMPTY_SERIES);
  return spec.over === undefined ? sum : ratioSeries(sum, rateSeries(track, spec.over, timing));
}

/** Sum where both have the same intervals, as columns of one track have; an interval of only one of them is left out. */
function addSeries(a: IntervalSeries, b: IntervalSeries): IntervalSeries {
  const keep: number[] = [];
  const value: number[] = [];
  for (let i = 0, j = 0; i < a.n; i++) {
    while (j < b.n && b.to[j]! < a.to[i]!) j++;
    if (j >= b.n || b.to[j] !== a.to[i]) continue;
    keep.push(i);
    value.push(a.value[i]! + b.value[j]!);
  }
  return {
    n: keep.length,
    from: Float64Array.from(keep, (i) => a.from[i]!),
    to: Float64Array.from(keep, (i) => a.to[i]!),
    value: Float64Array.from(value),
    momentary: a.momentary,
  };
}

/** Those with the largest range, in their own order. */
function liveliest(lines: readonly Line[]): Line[] {
  const range = lines.map(({ series }) => {
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    for (const v of series.value) {
      low = Math.min(low, v);
      high = Math.max(high, v);
    }
    return high - low;
  });
  const cut = [...range].sort((a, b) => b - a)[MAX_LINES - 1]!;
  return lines.filter((_, i) => range[i]! >= cut).slice(0, MAX_LINES);
}
