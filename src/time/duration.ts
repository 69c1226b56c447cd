const UNIT_US: Readonly<Record<string, number>> = { us: 1, ms: 1e3, s: 1e6, m: 60e6, min: 60e6, h: 3600e6, d: 86400e6 };
/** Fifty years: beyond it a range would begin before the epoch. */
const LONGEST_US = 50 * 365.25 * 86400e6;
const PART = /(\d+(?:\.\d+)?)\s*(us|ms|min|s|m|h|d)/gy;

/** Reads `30m`, `1h30m`, `90s`, `250ms`, `2d` as microseconds; null when it is no positive duration with a unit, or beyond fifty years. */
export function parseDurationUs(text: string): number | null {
  const trimmed = text.trim();
  let total = 0;
  PART.lastIndex = 0;
  while (PART.lastIndex < trimmed.length) {
    const at = PART.lastIndex;
    const m = PART.exec(trimmed);
    if (!m || m.index !== at) return null;
    total += Number(m[1]) * UNIT_US[m[2]!]!;
  }
  return total > 0 && total <= LONGEST_US ? Math.round(total) : null;
}

/** A duration for people: `850 ms`, `12.4 s`, `3 min 20 s`, `2 h 5 min`. */
export function formatDurationMs(ms: number): string {
  const sign = ms < 0 ? "-" : "";
  const v = Math.abs(ms);
  if (v < 10) return `${sign}${trimZero(v.toFixed(1))} ms`;
  if (v < 1000) return `${sign}${Math.round(v)} ms`;
  if (v < 60_000) return `${sign}${trimZero((v / 1000).toFixed(v < 10_000 ? 2 : 1))} s`;
  const seconds = Math.round(v / 1000);
  if (seconds < 3600) return `${sign}${Math.floor(seconds / 60)} min${seconds % 60 ? ` ${seconds % 60} s` : ""}`;
  const minutes = Math.round(seconds / 60);
  return `${sign}${Math.floor(minutes / 60)} h${minutes % 60 ? ` ${minutes % 60} min` : ""}`;
}

const trimZero = (text: string): string => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
