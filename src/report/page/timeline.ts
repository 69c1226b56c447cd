import type uPlot from "uplot";
import { html } from "../html/html-text.js";
import type { PageData } from "../html/page-data.js";
import type { Unpacked } from "../html/payload-codec.js";
import { AXIS_WIDTH, RIGHT_MARGIN } from "./chart-frame.js";
import { type DotHost, dotLane } from "./dot-lane.js";
import type { Lane } from "./lane.js";
import { lineLane } from "./line-lane.js";
import { Overlay } from "./overlay.js";
import { secondsText, TimeAxis } from "./time-axis.js";

/** Width of a chart on paper. */
const PRINT_WIDTH = 690;

export interface TimelineEvents {
  /** The stretch of time that the lanes show, in seconds. */
  viewed(from: number, to: number): void;
  /** An episode was clicked; 0 = a click beside all. */
  episode(number: number): void;
  dotHovered(dot: number, lane: string, x: number, y: number): void;
  dotChosen(dot: number): void;
  /** The cursor stands at a time, in seconds; null = it left. */
  cursor(time: number | null): void;
}

/** All lanes under one time axis: they share zoom, cursor, shading. */
export class Timeline implements DotHost {
  readonly overlay: Overlay;
  readonly axis: TimeAxis;
  readonly #charts: { lane: Lane; chart: uPlot; values: readonly HTMLElement[]; height: number }[] = [];
  readonly #box: HTMLElement;
  readonly #events: TimelineEvents;
  #view: { from: number; to: number };
  #width: number;
  #setting = false;

  constructor(box: HTMLElement, page: Unpacked<PageData>, events: TimelineEvents) {
    const { data } = page;
    this.#box = box;
    this.#events = events;
    this.axis = new TimeAxis(data);
    this.#view = { from: this.axis.from, to: this.axis.to };
    const spans = data.episodes.map((e) => ({
      number: e.number,
      class: e.class,
      from: this.axis.seconds(e.from),
      to: this.axis.seconds(e.to),
    }));
    this.overlay = new Overlay(
      spans,
      data.marks.map((m) => this.axis.seconds(m.at)),
    );
    this.#width = this.#roomFor();
    for (const lane of this.#lanes(page)) this.#add(lane);
    new ResizeObserver(() => this.#fit(this.#roomFor())).observe(box);
    // The browser lays the page out for paper right after this event: the canvases must have their width by then.
    addEventListener("beforeprint", () => this.#fit(PRINT_WIDTH));
    addEventListener("afterprint", () => this.#fit(this.#roomFor()));
  }

  get from(): number {
    return this.#view.from;
  }
  get to(): number {
    return this.#view.to;
  }
  get hasBands(): boolean {
    return this.#charts.some((c) => c.lane.banded);
  }
  get isEmpty(): boolean {
    return this.#charts.length === 0;
  }

  /** Place of a time on the page, in pixels from the left edge of the lanes; outside of the plot for times out of view. */
  place(time: number): number {
    const plot = this.#width - AXIS_WIDTH - RIGHT_MARGIN;
    return AXIS_WIDTH + ((time - this.from) / (this.to - this.from)) * plot;
  }

  *#lanes(page: Unpacked<PageData>): Generator<Lane> {
    const { data } = page;
    const dots = { time: this.axis.column(page.column(data.dots.time_column)), code: page.column(data.dots.class_column) };
    let top: "top" | "none" = "top";
    if (data.dots.n > 0)
      for (const lane of data.dots.lanes) {
        yield dotLane(lane, page.column(lane.value_column), dots, top, this, this.#width);
        top = "none";
      }
    for (const [i, lane] of data.lanes.entries())
      yield lineLane(lane, i === data.lanes.length - 1 ? "bottom" : "none", page, this.axis, this, this.#width);
  }

  #add(lane: Lane): void {
    const figure = document.createElement("figure");
    figure.className = "lane";
    figure.dataset.lane = lane.id;
    const names = lane.names.map(
      (n) =>
        html`<span class="name"><svg width="18" height="8" aria-hidden="true"><path d="M0 4h18" class="line-${n.colour} dash-${n.dash}"/></svg>${n.name} <b class="value">mean ${n.mean}</b></span>`,
    );
    figure.innerHTML =
      html`<figcaption><strong>${lane.title}</strong>${names}<span class="note">${lane.note}</span></figcaption><div class="plot" role="img" aria-label="${lane.title}. ${lane.summary}"></div>`.toString();
    this.#box.append(figure);
    const chart = lane.make(figure.querySelector<HTMLElement>(".plot")!);
    this.#charts.push({ lane, chart, values: [...figure.querySelectorAll<HTMLElement>(".value")], height: chart.height });
  }

  #roomFor(): number {
    return Math.max(280, Math.floor(this.#box.clientWidth));
  }

  #fit(width: number): void {
    if (width === this.#width) return;
    this.#width = width;
    for (const { chart, height } of this.#charts) chart.setSize({ width, height });
    this.#events.viewed(this.from, this.to);
  }

  /** Shows a stretch of time in all lanes, kept inside of the run. */
  show(from: number, to: number): void {
    const whole = this.axis.to - this.axis.from;
    const length = Math.min(whole, Math.max(to - from, Math.min(whole, 0.002)));
    const start = Math.min(Math.max(from, this.axis.from), this.axis.to - length);
    this.#view = { from: start, to: start + length };
    this.#setting = true;
    for (const { chart } of this.#charts) chart.setScale("x", { min: start, max: start + length });
    this.#setting = false;
    this.#events.viewed(this.from, this.to);
  }

  showAll(): void {
    this.show(this.axis.from, this.axis.to);
  }

  /** Zooms around the middle: `factor` < 1 shows less. */
  zoom(factor: number): void {
    const middle = (this.from + this.to) / 2;
    const half = ((this.to - this.from) / 2) * factor;
    this.show(middle - half, middle + half);
  }

  /** Moves the view by a part of its length. */
  pan(part: number): void {
    const by = (this.to - this.from) * part;
    this.show(this.from + by, this.to + by);
  }

  viewed(from: number, to: number): void {
    if (this.#setting || (Math.abs(from - this.from) < 1e-7 && Math.abs(to - this.to) < 1e-7)) return;
    // A scale is set inside of a chart's own drawing; the other charts follow after it.
    queueMicrotask(() => this.show(from, to));
  }

  moved(chart: uPlot): void {
    const entry = this.#charts.find((c) => c.chart === chart);
    if (!entry) return;
    const { left } = chart.cursor;
    this.#events.cursor(left == null || left < 0 ? null : chart.posToVal(left, "x"));
    const texts = entry.lane.readout(chart);
    entry.values.forEach((element, i) => {
      const text = texts[i] || `mean ${entry.lane.names[i]!.mean}`;
      if (element.textContent !== text) element.textContent = text;
    });
  }

  clicked(time: number, slack: number): void {
    this.#events.episode(this.overlay.at(time, slack)?.number ?? 0);
  }

  hovered(dot: number, lane: string, x: number, y: number): void {
    this.#events.dotHovered(dot, lane, x, y);
  }

  chosen(dot: number): void {
    this.#events.dotChosen(dot);
  }

  /** Puts the cursor of all lanes on a place of the view (0 to 1); returns what they say there. */
  cursorTo(part: number): string {
    const says: string[] = [];
    for (const { lane, chart } of this.#charts) {
      const width = chart.over.clientWidth;
      chart.setCursor({ left: part * width, top: 1 });
      const texts = lane.readout(chart);
      if (lane.names.length > 0)
        says.push(`${lane.title}: ${lane.names.map((n, i) => `${n.name} ${texts[i] || "no reading"}`).join(", ")}`);
    }
    return [secondsText(this.from + part * (this.to - this.from)), ...says].join(". ");
  }

  /** Paints again, for a new theme or another selection. */
  repaint(): void {
    for (const { chart } of this.#charts) chart.redraw(false);
  }
}
