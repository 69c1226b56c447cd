import { localZone } from "../../time/civil-time.js";
import { createLocalClock } from "../../time/local-clock.js";
import { isAnchored } from "../nanoseconds.js";
import type { ImportContext } from "./importer.js";

/** How the times of a file that count from an unknown moment become wall clock times. */
export interface RunClock {
  /** To be added, µs; null while nothing anchors it. */
  readonly offset_us: number | null;
  /** For the user: how the file was placed, or how it can be. */
  readonly note: string;
}

export interface Monotonic {
  /** Extent of the file's own times, µs. */
  readonly first_us: number;
  readonly last_us: number;
  /** When the file says it was written, µs as local time, with the text as printed. */
  readonly date: { readonly local_us: number; readonly text: string } | null;
}

const SLACK_US = 1e6;

const HOW = "give --anchor TIME (when its first request was sent), --anchor boot (written on this machine since its last start)";

/** Places the times of a file by what the caller said; guesses nothing by itself. */
export function runClock(context: ImportContext, times: Monotonic): RunClock {
  const { anchor, boot_us, now_us } = context.clock;
  const placed = (offset_us: number, note: string): RunClock => ({ offset_us: Math.round(offset_us), note });
  if (typeof anchor === "number") return placed(anchor - times.first_us, "placed by --anchor: its first request is sent at that time");
  // Times that this machine's clock has not reached yet are of another machine, or of an earlier start.
  if (anchor === "boot" && isAnchored(times.first_us + boot_us) && times.last_us + boot_us <= now_us + SLACK_US)
    return placed(boot_us, "placed by this machine's monotonic clock");
  if (anchor === "date" && times.date !== null) {
    const zone = context.clock.zone ?? localZone();
    const end = createLocalClock(zone).toUtc(times.date.local_us);
    if (end !== null)
      return placed(
        end - times.last_us,
        `placed by its date ${times.date.text} in zone ${zone} as the end of its run: some seconds off, which the correlator corrects by the load where it can`,
      );
  }
  const byDate = times.date === null ? "" : ` or --anchor date (its run ended at ${times.date.text}, --zone says where)`;
  return { offset_us: null, note: `its clock is not anchored: its times count from the machine's start; ${HOW}${byDate}` };
}
