import type { VerdictClass } from "../../../schemas/report.js";
import { CLASS_ORDER } from "../html/class-mark.js";

/** The colours in force, read from the style sheet: charts paint on canvases, which know no style. */
export interface Palette {
  readonly ink: string;
  readonly dim: string;
  readonly grid: string;
  readonly accent: string;
  readonly dot: string;
  readonly line: readonly string[];
  readonly of: Readonly<Record<VerdictClass, string>>;
}

/** A dash pattern beside the colour, so that lines are told apart without it. */
export const DASHES: readonly (readonly number[])[] = [[], [7, 3], [2, 2], [9, 3, 2, 3]];
export const LINE_COLOURS = 8;

let palette: Palette | null = null;

export function colours(): Palette {
  if (palette === null) {
    // A custom property is text; only a real one shows what light-dark() comes to.
    const probe = document.body.appendChild(document.createElement("i"));
    const value = (name: string): string => {
      probe.style.color = `var(--${name})`;
      return getComputedStyle(probe).color;
    };
    palette = {
      ink: value("ink"),
      dim: value("dim"),
      grid: value("grid"),
      accent: value("accent"),
      dot: value("dot"),
      line: Array.from({ length: LINE_COLOURS }, (_, i) => value(`line-${i}`)),
      of: Object.fromEntries(CLASS_ORDER.map((c) => [c, value(`c-${c}`)])) as Record<VerdictClass, string>,
    };
    probe.remove();
  }
  return palette;
}

/** To be called when the theme changes. */
export function forgetColours(): void {
  palette = null;
}

/** A colour as `getComputedStyle` gives it (`rgb(1, 2, 3)`), with an opacity. */
export const faded = (rgb: string, alpha: number): string => rgb.replace(/^rgb\((.*)\)$/, `rgba($1, ${alpha})`);
