import { AppError } from "../../schemas/error-codes.js";
import type { Selection } from "../store/open-store.js";
import { localZone, parseTime } from "../time/civil-time.js";
import { parseDurationUs } from "../time/duration.js";

export interface RangeOptions {
  readonly since?: string;
  readonly from?: string;
  readonly to?: string;
  readonly around?: string;
  /** Half-width of `around`. */
  readonly within?: string;
}

const AROUND_DEFAULT_US = 5 * 60e6;

/** RUN, or exactly one of `--since D`, `--from T --to T`, `--around T`. Throws USAGE or TIME_INVALID. */
export function selectRange(run: string | undefined, options: RangeOptions, nowUs: number): Selection {
  const asked = [
    run !== undefined,
    options.since !== undefined,
    options.from !== undefined || options.to !== undefined,
    options.around !== undefined,
  ];
  if (asked.filter(Boolean).length !== 1) {
    throw new AppError("USAGE", "name a RUN, or one of --since, --from with --to, --around", {
      mend: "for example: whyslow correlate --since 30m",
    });
  }
  if (run !== undefined) return { run };
  const time = (text: string): number => parseTime(text, { nowUs, zone: localZone() });
  if (options.since !== undefined) return { from_us: nowUs - duration(options.since, "--since"), to_us: nowUs };
  if (options.around !== undefined) {
    const centre = time(options.around);
    const half = options.within === undefined ? AROUND_DEFAULT_US : duration(options.within, "--within");
    return { from_us: centre - half, to_us: centre + half };
  }
  if (options.from === undefined) throw new AppError("USAGE", "--to needs --from", { mend: "give both ends of the range" });
  const from_us = time(options.from);
  const to_us = options.to === undefined ? nowUs : time(options.to);
  if (to_us <= from_us)
    throw new AppError("TIME_INVALID", `the range ends (${options.to ?? "now"}) before it begins (${options.from})`, {
      mend: "swap --from and --to",
    });
  return { from_us, to_us };
}

function duration(text: string, option: string): number {
  const us = parseDurationUs(text);
  if (us === null)
    throw new AppError("TIME_INVALID", `${option} '${text}' is no duration`, { mend: "use a number with a unit: 90s, 30m, 2h, 1d" });
  return us;
}
