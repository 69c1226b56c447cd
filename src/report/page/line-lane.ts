import uPlot from "uplot";
import type { LaneData, SeriesData } from "../html/page-data.js";
import { GAP_LEVEL, LEVELS, type Unpacked } from "../html/payload-codec.js";
import { chartOptions, type LaneHost } from "./chart-frame.js";
import type { Lane } from "./lane.js";
import { colours, DASHES, faded, LINE_COLOURS } from "./palette.js";
import type { TimeAxis } from "./time-axis.js";
import { unitText } from "./unit-text.js";

const HEIGHT = 72;

/** A lane of telemetry: a line an entity, or a band from lowest to highest where the line was reduced. */
export function lineLane(
  lane: LaneData,
  times: "bottom" | "none",
  page: Unpacked<unknown>,
  axis: TimeAxis,
  host: LaneHost,
  width: number,
): Lane {
  const tables: uPlot.AlignedData[] = [];
  const series: uPlot.Series[] = [];
  const bands: uPlot.Band[] = [];
  /** Where the data of each line (its upper edge) is. */
  const place: number[] = [];
  lane.series.forEach((s, i) => {
    const x = axis.column(page.column(s.time_column));
    const high = readings(s, page.column(s.high_column));
    const stroke = (): string => colours().line[i % LINE_COLOURS]!;
    const dash = [...DASHES[Math.floor(i / 2) % DASHES.length]!];
    const common: uPlot.Series = { stroke, dash, width: 1.4, points: { show: x.length < 3, size: 4 } };
    place.push(series.push({ ...common, label: s.name }));
    if (s.low_column === null) tables.push([x, high] as uPlot.AlignedData);
    else {
      tables.push([x, high, readings(s, page.column(s.low_column))] as uPlot.AlignedData);
      series.push({ ...common, label: `${s.name}, lowest`, points: { show: false } });
      bands.push({ series: [series.length - 1, series.length], fill: () => faded(stroke(), 0.28) });
    }
  });
  const data = tables.length === 1 ? tables[0]! : uPlot.join(tables);
  const { min, max } = extent(lane);
  const frame = chartOptions(host, {
    width,
    height: HEIGHT,
    times,
    series,
    bands,
    y: { range: [min, max] },
    yText: (v) => unitText(v, lane.unit),
    ySplits: [min, (min + max) / 2, max] as unknown as uPlot.Axis.Splits,
  });
  return {
    id: lane.id,
    title: lane.title,
    note: [lane.note, sources(lane)].filter(Boolean).join("; "),
    names: lane.series.map((s, i) => ({
      name: s.name,
      mean: unitText(s.mean, lane.unit),
      colour: i % LINE_COLOURS,
      dash: Math.floor(i / 2) % DASHES.length,
    })),
    summary: lane.series
      .map(
        (s) =>
          `${s.name}: mean ${unitText(s.mean, lane.unit)}, lowest ${unitText(s.min, lane.unit)}, highest ${unitText(s.max, lane.unit)}`,
      )
      .join("; "),
    banded: lane.series.some((s) => s.low_column !== null),
    make: (into) => new uPlot(frame, data, into),
    readout: (u) => place.map((at) => nearest(u.data[at]!, u.cursor.idx)).map((v) => (v === null ? "" : unitText(v, lane.unit))),
  };
}

const sources = (lane: LaneData): string => [...new Set(lane.series.map((s) => s.source))].join(", ");

function readings(s: SeriesData, levels: Float64Array): (number | null)[] {
  const step = (s.max - s.min) / LEVELS;
  return Array.from(levels, (l) => (l === GAP_LEVEL ? null : s.min + l * step));
}

/** The value at the cursor or the last one before it; lines of a lane do not share their times. */
function nearest(values: ArrayLike<number | null | undefined>, idx: number | null | undefined): number | null {
  if (idx == null) return null;
  for (let i = idx; i >= 0 && i > idx - 400; i--) if (values[i] !== undefined) return values[i]!;
  return null;
}

/** Shares that are read against the whole stand on a scale up to 1; clocks on what they span; the rest on zero. */
function extent(lane: LaneData): { min: number; max: number } {
  const high = Math.max(...lane.series.map((s) => s.max));
  const low = Math.min(...lane.series.map((s) => s.min));
  if (lane.id === "kv" || lane.id === "sm") return { min: 0, max: 1 };
  if (lane.unit === "mhz") {
    const pad = Math.max(25, (high - low) * 0.1);
    return { min: Math.max(0, Math.floor((low - pad) / 25) * 25), max: Math.ceil((high + pad) / 25) * 25 };
  }
  return { min: 0, max: niceAbove(high) };
}

/** The next of 1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8 times a power of ten. */
function niceAbove(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find((s) => s * power >= value * 1.0001) ?? 10;
  return step * power;
}
