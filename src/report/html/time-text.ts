import { formatIso } from "../../time/iso-time.js";

/** `09:07:56.903` of an ISO time or of µs since the epoch: UTC. */
export const clockText = (time: string | number, digits: 0 | 3 = 3): string =>
  (typeof time === "number" ? formatIso(Math.round(time)) : time).slice(11, digits === 0 ? 19 : 23);

/** `2026-09-03 09:07:00 to 09:09:00 UTC`; the day again when it is another one. */
export function spanText(start: string, end: string): string {
  const until = start.slice(0, 10) === end.slice(0, 10) ? end.slice(11, 19) : end.slice(0, 19).replace("T", " ");
  return `${start.slice(0, 19).replace("T", " ")} to ${until} UTC`;
}

/** Milliseconds between two ISO times as the report writes them. */
export const betweenMs = (start: string, end: string): number => microseconds(end) / 1000 - microseconds(start) / 1000;

/** µs since the epoch of an ISO time as the report writes them. */
export const microseconds = (iso: string): number => Date.parse(`${iso.slice(0, 19)}Z`) * 1000 + Number(iso.slice(20, -1).padEnd(6, "0"));
