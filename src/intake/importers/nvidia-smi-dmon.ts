import { createDmonReader } from "../../text/nvidia-smi-dmon.js";
import { localZone, zoneOffsetMinutes } from "../../time/civil-time.js";
import { readLines } from "../input-lines.js";
import { defineImporter, type ImportContext } from "./importer.js";
import { createSmiLog } from "./nvidia-smi-log.js";

const HEADER = /^\s*#\s*(?:date\s+|time\s+|date,\s*|time,\s*)*gpu[\s,]+/im;
const COLUMN = /\b(?:pwr|gtemp|sm|mclk|pclk|rxpci|smutil)\b/;
const DAY_US = 86_400e6;
/** A clock without a date that goes back by more than this has passed midnight. */
const MIDNIGHT_US = DAY_US / 2;

/** Logs of `nvidia-smi dmon -o DT`, any `-s`, with or without GPM columns. */
export const nvidiaSmiDmon = defineImporter({
  name: "nvidia-smi-dmon",
  looks_for: "a log of nvidia-smi dmon (# gpu pwr gtemp …)",

  recognise(head) {
    const line = head.split("\n").find((text) => HEADER.test(text));
    return line !== undefined && COLUMN.test(line) && !/\bpid\b/.test(line) ? 0.9 : 0;
  },

  async import(file, context) {
    const log = createSmiLog("nvidia-smi-dmon", context);
    const reader = createDmonReader();
    const dates = createDates(context);
    let timeless = false;
    let dateless = false;
    for await (const { lines, unterminated } of readLines(file, context.limits, () => log.refuse("line_too_long"))) {
      lines.forEach((line, i) => {
        const event = reader.push(line);
        if (event.kind === "problem") log.refuse(event.problem.state);
        else if (event.kind === "rejected") log.refuse(unterminated && i === lines.length - 1 ? "truncated" : event.reason);
        if (event.kind !== "row") return;
        const { index, stamp_us, values, refused } = event.row;
        log.refuseAll(refused);
        const local = stamp_us === null ? null : dates(stamp_us);
        timeless ||= stamp_us === null;
        dateless ||= stamp_us !== null && local === null;
        const ts_us = local === null ? null : log.local.toUtc(local);
        if (ts_us === null) log.refuse(stamp_us === null ? "no_timestamp" : local === null ? "no_date" : "local_time");
        else {
          log.placed();
          log.sample(`index:${index}`, { index: String(index) }, ts_us, values);
        }
      });
    }
    log.end();
    if (timeless) context.warn("its rows have no time: log with nvidia-smi dmon -o DT, so that they can be placed");
    if (dateless) context.warn("its rows have a time and no date: give --anchor TIME of that day, or log with -o DT");
  },
});

/** Gives times of day (`-o T`) the day of the anchor, and the next one after midnight; null when there is no anchor. */
function createDates(context: ImportContext): (stampUs: number) => number | null {
  const { anchor, zone } = context.clock;
  const local = typeof anchor === "number" ? anchor + (zoneOffsetMinutes(anchor, zone ?? localZone()) ?? 0) * 60e6 : null;
  let day = local === null ? null : Math.floor(local / DAY_US) * DAY_US;
  let last = -Infinity;
  return (stampUs) => {
    if (stampUs >= DAY_US) return stampUs;
    if (day === null) return null;
    if (stampUs < last - MIDNIGHT_US) day += DAY_US;
    last = stampUs;
    return day + stampUs;
  };
}
