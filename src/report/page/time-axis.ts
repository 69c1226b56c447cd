import type { PageData } from "../html/page-data.js";
import { clockText } from "../html/time-text.js";

/** Ticks of the payload as seconds since the epoch (what the charts count in), and the text of a time. */
export class TimeAxis {
  readonly from: number;
  readonly to: number;
  readonly #t0_us: number;
  readonly #tick_us: number;

  constructor(data: Pick<PageData, "t0_us" | "tick_us" | "span">) {
    this.#t0_us = data.t0_us;
    this.#tick_us = data.tick_us;
    this.from = this.seconds(0);
    this.to = this.seconds(data.span);
  }

  seconds(tick: number): number {
    return (this.#t0_us + tick * this.#tick_us) / 1e6;
  }

  column(ticks: Float64Array): Float64Array {
    return ticks.map((t) => this.seconds(t));
  }
}

export const secondsText = (seconds: number): string => clockText(seconds * 1e6);
