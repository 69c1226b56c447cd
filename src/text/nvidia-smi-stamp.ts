/** Zones are whole quarter hours apart, so a difference modulo this does not depend on the zone, nor on a change to or from summer time. */
const QUARTER_HOUR_US = 900 * 1_000_000;
/** How far a reading may undercut the smallest delay so far and still count as a smaller delay. */
const UNDERCUT_US = 30 * 1_000_000;
/** Clocks are read one after another: how much earlier than the start of the program a row may seem to be. */
const SLACK_US = 1_000_000;

const STAMP = /^(\d{4})\/(\d{2})\/(\d{2})\s+(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,6}))?$/;

const civil = (y: string, mo: string, d: string, h: string, mi: string, s: string): number | null => {
  const day = new Date(Date.UTC(Number(y), Number(mo) - 1, Number(d)));
  const exists = day.getUTCMonth() === Number(mo) - 1 && day.getUTCDate() === Number(d);
  const [hour, minute, second] = [Number(h), Number(mi), Number(s)];
  if (!exists || hour > 23 || minute > 59 || second > 60) return null;
  return (day.getTime() + (hour * 3600 + minute * 60 + second) * 1000) * 1000;
};

/** `2026/07/14 08:12:53.353` (local time, zone unknown) as microseconds on an axis of its own; null when it is no such stamp. */
export const parseSmiStamp = (text: string): number | null => {
  const m = STAMP.exec(text.trim());
  if (!m) return null;
  const base = civil(m[1]!, m[2]!, m[3]!, m[4]!, m[5]!, m[6]!);
  return base === null ? null : base + Number((m[7] ?? "").padEnd(6, "0"));
};

/** dmon's `YYYYMMDD` (may be absent) and `HH:MM:SS`, on the same kind of axis. */
export const parseDmonStamp = (date: string | undefined, time: string | undefined): number | null => {
  const t = /^(\d{2}):(\d{2}):(\d{2})$/.exec(time ?? "");
  if (!t) return null;
  const d = /^(\d{4})(\d{2})(\d{2})$/.exec(date ?? "19700101");
  return d ? civil(d[1]!, d[2]!, d[3]!, t[1]!, t[2]!, t[3]!) : null;
};

export interface RowTime {
  /** Time of record: the receipt, or, once the pipe has been seen to hold rows back, the receipt less this row's excess delay. */
  readonly ts_us: number;
  /** Delay of the row beyond the smallest delay seen; 0 when there is no stamp. */
  readonly late_us: number;
  /** The row was held back for longer than the tolerance. */
  readonly held: boolean;
}

export interface RowClock {
  place(received_us: number, stamp_us: number | null): RowTime;
}

export interface RowClockOptions {
  /** Wall time at which the program was started: no row can be older. */
  readonly started_us: number;
  /** Delay that is still normal; beyond it rows come in bursts. */
  readonly tolerance_us: number;
  /** Resolution of the stamps. */
  readonly resolution_us?: number;
}

const mod = (value: number): number => ((value % QUARTER_HOUR_US) + QUARTER_HOUR_US) % QUARTER_HOUR_US;

/**
 * Dates the rows of one running program. The receipt clock is the time of record: stamps have no zone and jump twice a year. But a
 * block-buffered pipe hands over many cycles at one instant; then the rows' own spacing is right and their receipts are not.
 * The delay (receipt less stamp, modulo a quarter hour) of such rows stands out against the smallest one. Both clocks are normally
 * the same, so that this is 0; if the first row's delay is longer than the program has been running, they are not, and its own delay is taken.
 */
export const createRowClock = (options: RowClockOptions): RowClock => {
  const resolution = options.resolution_us ?? 0;
  let base: number | null = null;
  let holds = false;
  return {
    place(received_us, stamp_us) {
      if (stamp_us === null) return { ts_us: received_us, late_us: 0, held: false };
      const oldest = received_us - options.started_us + SLACK_US;
      const delay = mod(received_us - stamp_us);
      base ??= delay <= oldest ? 0 : delay;
      let late = mod(delay - base);
      if (late > oldest || late > QUARTER_HOUR_US - UNDERCUT_US) {
        base = delay;
        late = 0;
      }
      const held = late > options.tolerance_us + resolution;
      holds ||= held;
      const ts_us = holds ? received_us - Math.max(0, late - Math.floor(resolution / 2)) : received_us;
      return { ts_us, late_us: late, held };
    },
  };
};
