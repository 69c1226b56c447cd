/** Total stall time of a PSI file in seconds since boot, or since the group was made. Null = the line is absent. */
export interface Pressure {
  readonly some_s: number | null;
  /** Absent for `cpu` on kernels before 5.13, and 0 at system level after. */
  readonly full_s: number | null;
}

const total = (text: string, line: string): number | null => {
  const cell = new RegExp(`^${line} .*\\btotal=(\\d+)\\s*$`, "m").exec(text)?.[1];
  return cell === undefined ? null : Number(cell) / 1e6;
};

/** Reads `/proc/pressure/*` and a cgroup's `*.pressure` (`some avg10=0.00 avg60=0.00 avg300=0.00 total=14036781`, µs). */
export const parsePressure = (text: string): Pressure => ({ some_s: total(text, "some"), full_s: total(text, "full") });
