import type { VerdictClass } from "../../../schemas/report.js";
import { type Html, trusted } from "./html-text.js";

/** Order of the classes in codes and palettes: a code of a request is its place here plus one; 0 = not slow. */
export const CLASS_ORDER: readonly VerdictClass[] = [
  "compute",
  "bandwidth",
  "kv_cache",
  "cpu_tokenization",
  "communication",
  "indeterminate",
];

/** A shape of its own per class beside the colour, on a field of 12 by 12: for readers who cannot tell the colours apart. */
export const CLASS_SHAPE: Readonly<Record<VerdictClass, string>> = {
  compute: "M6 1 11.5 11H.5Z",
  bandwidth: "M1.5 1.5h9v9h-9Z",
  kv_cache: "M6 .5 11.5 6 6 11.5.5 6Z",
  cpu_tokenization: "M6 1a5 5 0 1 1 0 10A5 5 0 1 1 6 1Z",
  communication: "M4 1h4v3h3v4H8v3H4V8H1V4h3Z",
  indeterminate: "M6 1a5 5 0 1 1 0 10A5 5 0 1 1 6 1ZM6 3.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 1 0 0-5.6Z",
};

export const classIcon = (c: VerdictClass): Html =>
  trusted(
    `<svg class="mark c-${c}" viewBox="0 0 12 12" width="12" height="12" aria-hidden="true"><path d="${CLASS_SHAPE[c]}" fill-rule="evenodd"/></svg>`,
  );

/** Hatchings of the bars, one a class: strokes of a field of 8 by 8. */
const HATCH: Readonly<Record<VerdictClass, string>> = {
  compute: "M0 8 8 0M-2 2 2-2M6 10l4-4",
  bandwidth: "M0 4h8",
  kv_cache: "M0 0l8 8M0 8l8-8",
  cpu_tokenization: "M4 3.5v1",
  communication: "M4 0v8",
  indeterminate: "",
};

/** The hatchings, to be defined once in a page. */
export const hatchings = (): Html =>
  trusted(
    `<svg width="0" height="0" class="defs" aria-hidden="true"><defs>${CLASS_ORDER.map(
      (c) =>
        `<pattern id="hatch-${c}" width="8" height="8" patternUnits="userSpaceOnUse"><rect width="8" height="8" class="c-${c}"/><path d="${HATCH[c]}" class="hatch"/></pattern>`,
    ).join("")}</defs></svg>`,
  );

/** A bar of shares, each with its class's colour and hatching. `parts` are shares of 1. */
export function classBar(parts: readonly { class: VerdictClass; share: number }[], label: string): Html {
  let at = 0;
  const rects = parts.map(({ class: c, share }) => {
    const width = Math.max(0, Math.min(share, 1 - at)) * 1000;
    const rect = `<rect x="${(at * 1000).toFixed(1)}" width="${width.toFixed(1)}" height="26" fill="url(#hatch-${c})"/>`;
    at += share;
    return rect;
  });
  return trusted(
    `<svg class="classbar" viewBox="0 0 1000 26" preserveAspectRatio="none" role="img" aria-label="${label.replace(/[&<>"]/g, "")}">${rects.join("")}</svg>`,
  );
}
