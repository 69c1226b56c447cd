import type uPlot from "uplot";
import type { VerdictClass } from "../../../schemas/report.js";
import { colours, faded } from "./palette.js";

export interface OverlaySpan {
  readonly number: number;
  readonly from: number;
  readonly to: number;
  readonly class: VerdictClass;
}

/** What lies over every lane: episodes as shaded spans, marks as lines, the request that was asked for. */
export class Overlay {
  selected = 0;
  /** Seconds; null = none. */
  pointer: number | null = null;
  readonly #spans: readonly OverlaySpan[];
  readonly #marks: readonly number[];

  constructor(spans: readonly OverlaySpan[], marks: readonly number[]) {
    this.#spans = spans;
    this.#marks = marks;
  }

  /** The shortest span that holds a time, widened by `slack` seconds. */
  at(time: number, slack: number): OverlaySpan | null {
    const over = this.#spans.filter((s) => s.from - slack <= time && time <= s.to + slack);
    return over.sort((a, b) => a.to - a.from - (b.to - b.from))[0] ?? null;
  }

  /** Below the lines. */
  paintSpans(u: uPlot): void {
    const { ctx, bbox } = u;
    clipped(u, () => {
      for (const s of this.#spans) {
        const left = u.valToPos(s.from, "x", true);
        const width = Math.max(2 * devicePixelRatio, u.valToPos(s.to, "x", true) - left);
        if (left + width < bbox.left || left > bbox.left + bbox.width) continue;
        const chosen = s.number === this.selected;
        ctx.fillStyle = faded(colours().of[s.class], chosen ? 0.2 : 0.1);
        ctx.fillRect(left, bbox.top, width, bbox.height);
        if (chosen) {
          ctx.fillStyle = colours().of[s.class];
          for (const x of [left, left + width]) ctx.fillRect(x - devicePixelRatio / 2, bbox.top, devicePixelRatio, bbox.height);
        }
      }
    });
  }

  /** Above the lines. */
  paintMarks(u: uPlot): void {
    const { ctx, bbox } = u;
    const line = (time: number, colour: string, dash: number[]): void => {
      const x = Math.round(u.valToPos(time, "x", true)) + 0.5;
      ctx.strokeStyle = colour;
      ctx.setLineDash(dash.map((d) => d * devicePixelRatio));
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    };
    clipped(u, () => {
      ctx.lineWidth = devicePixelRatio;
      for (const m of this.#marks) line(m, colours().ink, [4, 3]);
      if (this.pointer !== null) line(this.pointer, colours().accent, []);
    });
  }
}

function clipped({ ctx, bbox }: uPlot, paint: () => void): void {
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  paint();
  ctx.restore();
}
