import { parseCount } from "./proc-line-value.js";

export interface InterfaceCounters {
  readonly name: string;
  readonly rx_bytes: number;
  readonly rx_errors: number;
  readonly rx_drops: number;
  readonly tx_bytes: number;
  readonly tx_errors: number;
  readonly tx_drops: number;
}

export interface InterfaceTable {
  readonly interfaces: readonly InterfaceCounters[];
  /** Lines that are neither a header nor an interface with all of its counters. */
  readonly rejected: number;
}

/**
 * Reads `/proc/net/dev`: two header lines, then `  eth0: BYTES PACKETS ERRS DROP FIFO FRAME COMPRESSED MULTICAST BYTES …`.
 * The name may touch the first number (`eth0:123`) and an alias holds a colon itself (`eth0:1: 123`): the last colon ends the name.
 */
export const parseNetDev = (text: string): InterfaceTable => {
  const interfaces: InterfaceCounters[] = [];
  let rejected = 0;
  for (const line of text.split("\n")) {
    if (line.trim() === "" || line.includes("|")) continue;
    const colon = line.lastIndexOf(":");
    const name = line.slice(0, Math.max(0, colon)).trim();
    const cells = line
      .slice(colon + 1)
      .trim()
      .split(/\s+/);
    const [rxBytes, rxErrors, rxDrops, txBytes, txErrors, txDrops] = [0, 2, 3, 8, 10, 11].map((i) => parseCount(cells[i]));
    if (name === "" || rxBytes == null || rxErrors == null || rxDrops == null || txBytes == null || txErrors == null || txDrops == null) {
      rejected++;
      continue;
    }
    interfaces.push({
      name,
      rx_bytes: rxBytes,
      rx_errors: rxErrors,
      rx_drops: rxDrops,
      tx_bytes: txBytes,
      tx_errors: txErrors,
      tx_drops: txDrops,
    });
  }
  return { interfaces, rejected };
};
