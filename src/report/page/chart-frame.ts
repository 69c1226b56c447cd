import type uPlot from "uplot";
import type { Overlay } from "./overlay.js";
import { colours } from "./palette.js";
import { secondsText } from "./time-axis.js";

/** Width of the values left of every lane: the same for all, so that times stand below each other. */
export const AXIS_WIDTH = 64;
export const RIGHT_MARGIN = 14;
const SYNC_KEY = "lanes";

/** What a lane needs of the timeline. */
export interface LaneHost {
  readonly overlay: Overlay;
  readonly from: number;
  readonly to: number;
  /** A lane was zoomed by dragging. */
  viewed(from: number, to: number): void;
  /** The whole run is wanted. */
  showAll(): void;
  /** The cursor moved over a lane. */
  moved(chart: uPlot): void;
  /** A lane was clicked at a time; `slack` is a few pixels in seconds. */
  clicked(time: number, slack: number): void;
}

interface FrameOptions {
  readonly width: number;
  readonly height: number;
  /** Where times are written. */
  readonly times: "top" | "bottom" | "none";
  readonly y: uPlot.Scale;
  readonly yText: (value: number) => string;
  readonly ySplits?: uPlot.Axis.Splits;
  readonly series: uPlot.Series[];
  readonly bands?: uPlot.Band[];
  readonly paint?: (u: uPlot) => void;
}

/** The options that all lanes share: one time axis and zoom, one cursor, episodes and marks painted over. */
export function chartOptions(host: LaneHost, o: FrameOptions): uPlot.Options {
  const { overlay } = host;
  return {
    width: o.width,
    height: o.height + (o.times === "none" ? 0 : 22),
    padding: [o.times === "top" ? 0 : 8, RIGHT_MARGIN, o.times === "bottom" ? 0 : 5, 0],
    tzDate: (seconds) => utcDate(seconds),
    legend: { show: false },
    scales: { x: { time: true, min: host.from, max: host.to, range: (_, min, max) => [min ?? host.from, max ?? host.to] }, y: o.y },
    series: [{}, ...o.series],
    ...(o.bands ? { bands: o.bands } : {}),
    axes: [
      {
        show: o.times !== "none",
        side: o.times === "top" ? 0 : 2,
        size: 22,
        gap: 2,
        stroke: () => colours().dim,
        grid: { stroke: () => colours().grid, width: 1 },
        ticks: { stroke: () => colours().grid, size: 4 },
        values: (_, splits, __, ___, step) => splits.map((s) => axisTime(s, step)),
        font: FONT,
        space: 76,
      },
      {
        size: AXIS_WIDTH,
        gap: 4,
        stroke: () => colours().dim,
        grid: { stroke: () => colours().grid, width: 1 },
        ticks: { show: false },
        values: (_, splits) => splits.map((v) => (v === null ? "" : o.yText(v))),
        // On a logarithmic scale only powers of ten would be written otherwise.
        filter: (_, splits) => splits,
        ...(o.ySplits ? { splits: o.ySplits } : {}),
        font: FONT,
        space: 24,
      },
    ],
    cursor: {
      sync: { key: SYNC_KEY, scales: ["x", null] },
      drag: { x: true, y: false, dist: 5 },
      points: { size: 6 },
      y: false,
      bind: {
        dblclick: () => () => {
          host.showAll();
          return null;
        },
      },
    },
    hooks: {
      drawClear: [(u) => overlay.paintSpans(u)],
      draw: [(u) => o.paint?.(u), (u) => overlay.paintMarks(u)],
      setScale: [
        (u, key) => {
          const { min, max } = u.scales.x!;
          if (key !== "x" || min == null || max == null) return;
          u.root.dataset.view = `${min.toFixed(6)} ${max.toFixed(6)}`;
          host.viewed(min, max);
        },
      ],
      setCursor: [(u) => host.moved(u)],
      ready: [(u) => watchClicks(u, host)],
    },
  };
}

const FONT = '11px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';

/** A press and a release on the same spot is a click, not a zoom. */
function watchClicks(u: uPlot, host: LaneHost): void {
  let down = -1;
  u.over.addEventListener("mousedown", (e) => (down = e.clientX));
  u.over.addEventListener("click", (e) => {
    if (Math.abs(e.clientX - down) > 4) return;
    const left = e.clientX - u.over.getBoundingClientRect().left;
    host.clicked(u.posToVal(left, "x"), Math.abs(u.posToVal(left + 3, "x") - u.posToVal(left, "x")));
  });
}

/** A date whose local parts are those of UTC. */
function utcDate(seconds: number): Date {
  const d = new Date(seconds * 1000);
  return new Date(d.getTime() + d.getTimezoneOffset() * 60_000);
}

function axisTime(seconds: number, step: number): string {
  const text = secondsText(seconds);
  if (step >= 86_400) return new Date(seconds * 1000).toISOString().slice(5, 10);
  if (step >= 60) return text.slice(0, 5);
  return step >= 1 ? text.slice(0, 8) : text;
}
