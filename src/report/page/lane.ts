import type uPlot from "uplot";

/** One lane of the timeline, ready to be drawn. */
export interface Lane {
  readonly id: string;
  readonly title: string;
  readonly note: string;
  /** Lines with their mean, which stands where there is no cursor. */
  readonly names: readonly { readonly name: string; readonly mean: string; readonly colour: number; readonly dash: number }[];
  /** The lane in words, for readers who cannot see it. */
  readonly summary: string;
  /** Draws bands of lowest to highest. */
  readonly banded: boolean;
  make(into: HTMLElement): uPlot;
  /** The values at the cursor, in the order of `names`. */
  readout(chart: uPlot): readonly string[];
}
