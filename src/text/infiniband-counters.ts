import { parseCount } from "./proc-line-value.js";

/** A 32-bit counter that stopped at its end says nothing any more; all 64 bits set is how drivers say "not supported". */
const SATURATED = new Set([4_294_967_295, 2 ** 64]);

/** `port_xmit_data` and `port_rcv_data` count 4-byte words (octets divided by 4, all lanes). */
export const INFINIBAND_WORD_BYTES = 4;

/** One file below `counters/` or `hw_counters/`. Null for text such as `N/A (no PMA)` and for a saturated counter. */
export const parseInfinibandCounter = (text: string): number | null => {
  const count = parseCount(text.trim());
  return count !== null && SATURATED.has(count) ? null : count;
};

/** `rate` as bytes a second and direction: `400 Gb/sec (4X NDR)`, `2.5 Gb/sec (1X SDR)`; null for anything else. */
export const parseInfinibandRate = (text: string): number | null => {
  const gigabits = /^(\d+(?:\.\d+)?) Gb\/sec/.exec(text)?.[1];
  return gigabits === undefined ? null : (Number(gigabits) * 1e9) / 8;
};

/** `state` is `4: ACTIVE` when the port carries data: 1; another state: 0; null when it is no state. */
export const parseInfinibandState = (text: string): 0 | 1 | null => {
  const state = /^(\d+):/.exec(text)?.[1];
  return state === undefined ? null : state === "4" ? 1 : 0;
};

/** `link_layer`: RoCE ports call themselves `Ethernet`. */
export const parseLinkLayer = (text: string): "infiniband" | "roce" | null => {
  const layer = text.trim();
  return layer === "InfiniBand" ? "infiniband" : layer === "Ethernet" ? "roce" : null;
};
