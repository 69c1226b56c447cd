import { existsSync } from "node:fs";

/**
 * Where the node's network counters are. `/proc/net` is that of the reading process: right on the node itself, but an agent in a
 * container that has the node's /proc mounted elsewhere would read its own container's, so process 1 of the node is asked there.
 */
export const networkProcPath = (proc: string): string =>
  proc !== "/proc" && existsSync(`${proc}/1/net/dev`) ? `${proc}/1/net` : `${proc}/net`;
