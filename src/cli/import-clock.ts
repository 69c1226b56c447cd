import { AppError } from "../../schemas/error-codes.js";
import type { ImportClock } from "../intake/importers/importer.js";
import { isZone, localZone, parseTime } from "../time/civil-time.js";

export const ANCHOR_OPTION = [
  "--anchor <time>",
  "when the first request of a file without wall clock times was sent; or `boot`: written on this machine since its last start; or `date`: the file's own date is when its run ended",
] as const;
export const ZONE_OPTION = ["--zone <name>", "zone of local times in the files, e.g. Europe/Berlin (default: this machine's)"] as const;

/** Wall time at which this machine's monotonic clock (CLOCK_MONOTONIC, as load generators use it) was 0, µs. */
export const monotonicZeroUs = (wallUs: number): number => wallUs - Number(process.hrtime.bigint() / 1000n);

/** @throws AppError USAGE for an unknown zone; TIME_INVALID. */
export function importClock(flags: { readonly anchor?: string; readonly zone?: string }, nowUs: number): ImportClock {
  const { anchor, zone } = flags;
  if (zone !== undefined && !isZone(zone))
    throw new AppError("USAGE", `there is no zone ${JSON.stringify(zone)}`, { mend: "use an IANA name such as Europe/Berlin or UTC" });
  const named = anchor === "boot" || anchor === "date";
  return {
    anchor: anchor === undefined ? null : named ? anchor : parseTime(anchor, { nowUs, zone: zone ?? localZone() }),
    zone: zone ?? null,
    boot_us: monotonicZeroUs(nowUs),
    now_us: nowUs,
  };
}
