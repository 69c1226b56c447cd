import { parseCount } from "./proc-line-value.js";

/** `/proc/diskstats` counts sectors of 512 bytes, whatever the device's own sector size (Linux Documentation/admin-guide/iostats.rst). */
const SECTOR_BYTES = 512;

export interface DiskStats {
  readonly read_bytes: number;
  readonly written_bytes: number;
  /** Seconds with I/O in flight. */
  readonly busy_s: number;
}

export interface DiskTable {
  readonly disks: ReadonlyMap<string, DiskStats>;
  /** Lines that are not a device's counters. */
  readonly rejected: number;
}

/** Not disks of their own: their I/O is memory, or is counted again at the devices below them. */
const STACKED = /^(loop|ram|zram|dm-|md|sr|fd|nbd|drbd|bcache)\d*/;

/** A partition's name is its disk's, then (after a digit) `p`, then a number: `sda1`, `nvme0n1p2`, `mmcblk0p1`. */
const partitionOf = (name: string): string | null => {
  const parts = /^(.*\dp|.*[a-z])\d+$/.exec(name);
  if (parts?.[1] === undefined) return null;
  return /\dp$/.test(parts[1]) ? parts[1].slice(0, -1) : parts[1];
};

/**
 * Reads `/proc/diskstats`: whole devices only. A partition is recognised by its disk being in the same file, so that `nvme0n1` (which
 * also ends in a number) is a disk. NVMe multipath lists the same I/O under `nvme0c0n1`: that is left out too.
 */
export const parseDiskStats = (text: string): DiskTable => {
  const all = new Map<string, DiskStats>();
  let rejected = 0;
  for (const line of text.split("\n")) {
    const cells = line.trim().split(/\s+/);
    if (cells.length === 1 && cells[0] === "") continue;
    const name = cells[2];
    const read = parseCount(cells[5]);
    const written = parseCount(cells[9]);
    const busyMs = parseCount(cells[12]);
    if (name === undefined || read === null || written === null || busyMs === null) rejected++;
    else all.set(name, { read_bytes: read * SECTOR_BYTES, written_bytes: written * SECTOR_BYTES, busy_s: busyMs / 1000 });
  }
  const disks = new Map<string, DiskStats>();
  for (const [name, stats] of all) {
    const parent = partitionOf(name);
    if (STACKED.test(name) || /^nvme\d+c\d+n\d+$/.test(name) || (parent !== null && all.has(parent))) continue;
    disks.set(name, stats);
  }
  return { disks, rejected };
};
