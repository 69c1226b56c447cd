import uPlot from "uplot";
import { CLASS_ORDER, CLASS_SHAPE } from "../html/class-mark.js";
import { lowerBound } from "../html/lower-bound.js";
import { fromLogStep } from "../html/payload-codec.js";
import { milliseconds } from "../number-text.js";
import { chartOptions, type LaneHost } from "./chart-frame.js";
import { DotRaster } from "./dot-raster.js";
import type { Lane } from "./lane.js";
import { colours, faded } from "./palette.js";

const HEIGHT = 150;
/** Distance in pixels from which a dot is under the pointer. */
const REACH = 12;

export interface Dots {
  readonly time: Float64Array;
  /** 0 = not slow, else place in CLASS_ORDER plus one. */
  readonly code: Float64Array;
}

export interface DotHost extends LaneHost {
  /** The pointer is over a dot (-1 = over none) at page coordinates. */
  hovered(dot: number, lane: string, x: number, y: number): void;
  chosen(dot: number): void;
}

/** Requests as a scatter on a logarithmic scale: grey squares, and for slow ones the shape and colour of their class. */
export function dotLane(
  lane: { id: string; title: string; max: number },
  steps: Float64Array,
  dots: Dots,
  times: "top" | "none",
  host: DotHost,
  width: number,
): Lane {
  const y = Float64Array.from(steps, fromLogStep);
  const { low, high } = decades(y, lane.max);
  const known = steps.reduce((n, s) => n + (s > 0 ? 1 : 0), 0);
  const frame = chartOptions(host, {
    width,
    height: HEIGHT,
    times,
    series: [{ paths: () => null, points: { show: false } }],
    y: { distr: 3, range: [low, high] },
    yText: milliseconds,
    paint: (u) => paintDots(u, dots, y),
    ySplits: (() => powers(low, high)) as uPlot.Axis.Splits,
  });
  return {
    id: lane.id,
    title: lane.title,
    note: "a dot a request, by arrival",
    names: [],
    summary: `${known} requests, the slowest ${milliseconds(lane.max)}; the table of slow requests tells the same`,
    banded: false,
    make: (into) => {
      const chart = new uPlot(frame, [dots.time, y], into);
      watchPointer(chart, lane.id, dots, y, host);
      return chart;
    },
    readout: () => [],
  };
}

function decades(y: Float64Array, max: number): { low: number; high: number } {
  let low = Number.POSITIVE_INFINITY;
  for (const v of y) if (v < low) low = v;
  if (!Number.isFinite(low)) return { low: 1, high: 10 };
  const from = low / 1.3;
  return { low: from, high: Math.max(max * 1.4, from * 10) };
}

/** 1, 10, 100 ...; with 3, 30 ... between where there is room. */
function powers(low: number, high: number): number[] {
  const steps = Math.log10(high / low) < 2.2 ? [1, 3] : [1];
  const out: number[] = [];
  for (let p = 10 ** Math.floor(Math.log10(low)); p <= high; p *= 10)
    for (const s of steps) if (p * s >= low && p * s <= high) out.push(p * s);
  return out;
}

function paintDots(u: uPlot, dots: Dots, y: Float64Array): void {
  const { ctx, bbox } = u;
  const { min: from, max: to } = u.scales.x!;
  const first = lowerBound(dots.time, from!);
  const last = lowerBound(dots.time, to! + 1e-9);
  const scaleX = bbox.width / (to! - from!);
  const yMin = Math.log(u.scales.y!.min!);
  const scaleY = bbox.height / (Math.log(u.scales.y!.max!) - yMin);
  const xOf = (i: number): number => (dots.time[i]! - from!) * scaleX;
  const yOf = (i: number): number => bbox.height - (Math.log(y[i]!) - yMin) * scaleY;
  const raster = new DotRaster(bbox.width, bbox.height, (last - first > 4000 ? 2 : 3) * devicePixelRatio);
  const slow: number[] = [];
  for (let i = first; i < last; i++) {
    if (!(y[i]! > 0)) continue;
    if (dots.code[i] === 0) raster.dot(xOf(i), yOf(i));
    else slow.push(i);
  }
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  raster.paint(ctx, bbox.left, bbox.top, faded(colours().dot, last - first > 20_000 ? 0.6 : 0.8));
  paintSlow(
    u,
    slow,
    dots,
    (i) => bbox.left + xOf(i),
    (i) => bbox.top + yOf(i),
    slow.length > 3000 ? 0.55 : 0.75,
  );
  ctx.restore();
}

/** Each class as one path: its shape at every request. */
function paintSlow(
  { ctx }: uPlot,
  slow: readonly number[],
  dots: Dots,
  xOf: (i: number) => number,
  yOf: (i: number) => number,
  scale: number,
): void {
  const px = devicePixelRatio * scale;
  CLASS_ORDER.forEach((c, place) => {
    const shape = new Path2D(CLASS_SHAPE[c]);
    ctx.fillStyle = colours().of[c];
    const taken = new Set<number>();
    for (const i of slow) {
      if (dots.code[i] !== place + 1) continue;
      const x = xOf(i);
      const y = yOf(i);
      const cell = Math.round(x / devicePixelRatio) * 65_536 + Math.round(y / devicePixelRatio);
      if (taken.has(cell)) continue;
      taken.add(cell);
      ctx.setTransform(px, 0, 0, px, x - 6 * px, y - 6 * px);
      ctx.fill(shape, "evenodd");
    }
  });
  ctx.setTransform(1, 0, 0, 1, 0, 0);
}

function watchPointer(u: uPlot, lane: string, dots: Dots, y: Float64Array, host: DotHost): void {
  const under = (e: MouseEvent): number => {
    const box = u.over.getBoundingClientRect();
    return nearestDot(u, dots, y, e.clientX - box.left, e.clientY - box.top);
  };
  u.over.addEventListener("mousemove", (e) => host.hovered(under(e), lane, e.pageX, e.pageY));
  u.over.addEventListener("mouseleave", (e) => host.hovered(-1, lane, e.pageX, e.pageY));
  u.over.addEventListener("click", (e) => {
    const dot = under(e);
    if (dot >= 0) host.chosen(dot);
  });
}

/** The nearest dot within reach; slow ones first. -1 = none. */
function nearestDot(u: uPlot, dots: Dots, y: Float64Array, left: number, top: number): number {
  const first = lowerBound(dots.time, u.posToVal(left - REACH, "x"));
  const last = lowerBound(dots.time, u.posToVal(left + REACH, "x"));
  let best = -1;
  let least = REACH * REACH;
  for (let i = first; i < last; i++) {
    if (!(y[i]! > 0)) continue;
    const dx = u.valToPos(dots.time[i]!, "x") - left;
    const dy = u.valToPos(y[i]!, "y") - top;
    const away = (dx * dx + dy * dy) * (dots.code[i] === 0 ? 1 : 0.25);
    if (away < least) {
      least = away;
      best = i;
    }
  }
  return best;
}
