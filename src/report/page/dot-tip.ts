import { CLASS_ORDER, classIcon } from "../html/class-mark.js";
import { html } from "../html/html-text.js";
import type { PageData, TableRequest, TableSpike } from "../html/page-data.js";
import { fromLogStep, type Unpacked } from "../html/payload-codec.js";
import { milliseconds } from "../number-text.js";
import { CLASS_TEXT, METRIC_TEXT } from "../wording.js";
import { secondsText, type TimeAxis } from "./time-axis.js";

/** What is known of a dot. */
export interface KnownDot {
  readonly request: TableRequest;
  /** Its largest spike; null = none. */
  readonly spike: TableSpike | null;
}

/** Requests of the table by the dot that stands for them. */
export function knownDots(data: PageData): ReadonlyMap<number, KnownDot> {
  const known = new Map<number, KnownDot>();
  for (const [index, spike] of data.table.rows) {
    const request = data.table.requests[index]!;
    const before = known.get(request[8])?.spike;
    if (request[8] >= 0 && (before == null || (spike && spike.excess_ms > before.excess_ms))) known.set(request[8], { request, spike });
  }
  return known;
}

/** The box beside the pointer that tells about a request. */
export class DotTip {
  readonly #box: HTMLElement;
  readonly #axis: TimeAxis;
  readonly #known: ReadonlyMap<number, KnownDot>;
  readonly #times: Float64Array;
  readonly #codes: Float64Array;
  readonly #steps: ReadonlyMap<string, { title: string; steps: Float64Array }>;

  constructor(page: Unpacked<PageData>, axis: TimeAxis, known: ReadonlyMap<number, KnownDot>) {
    const { dots } = page.data;
    this.#axis = axis;
    this.#known = known;
    this.#times = page.column(dots.time_column);
    this.#codes = page.column(dots.class_column);
    this.#steps = new Map(dots.lanes.map((l) => [l.id, { title: l.title, steps: page.column(l.value_column) }]));
    this.#box = document.createElement("div");
    this.#box.className = "tip";
    this.#box.hidden = true;
    document.body.append(this.#box);
  }

  show(dot: number, x: number, y: number): void {
    this.#box.hidden = dot < 0;
    if (dot < 0) return;
    const time = secondsText(this.#axis.seconds(this.#times[dot]!));
    const known = this.#known.get(dot);
    const code = this.#codes[dot]!;
    const c = code > 0 ? CLASS_ORDER[code - 1]! : null;
    const values = [...this.#steps.entries()].flatMap(([id, { title, steps }]) => {
      const exact = known && { ttft: known.request[2], gap: known.request[3], e2e: known.request[4] }[id];
      const ms = exact ?? (steps[dot] ? fromLogStep(steps[dot]!) : null);
      return ms === null ? [] : [html`<div>${title} <b>${exact == null ? "about " : ""}${milliseconds(ms)}</b></div>`];
    });
    const spike = known?.spike;
    this.#box.innerHTML =
      html`<div class="dim">${time}${known && ` ${known.request[0]}`}</div>${values}${c && html`<div>${classIcon(c)}${CLASS_TEXT[c]}${spike?.cause && ` / ${spike.cause}`}</div>`}${
        spike &&
        html`<div>${METRIC_TEXT[spike.metric]} ${milliseconds(spike.observed_ms)}, expected ${milliseconds(spike.expected_ms)}</div>`
      }${spike && spike.episode > 0 && html`<div class="dim">episode ${spike.episode}: click for the evidence</div>`}`.toString();
    const room = document.documentElement.clientWidth;
    this.#box.style.left = `${Math.min(x + 14, Math.max(0, room - this.#box.offsetWidth - 8 + scrollX))}px`;
    this.#box.style.top = `${y + 14}px`;
  }
}
