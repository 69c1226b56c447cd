import { parseSmiCell } from "./nvidia-smi-cell.js";
import { parseGpuHeading } from "./nvidia-smi-list.js";

/** One NVLink of one GPU. Null = not printed, `N/A`, or not a number. */
export interface SmiNvlink {
  readonly link: number;
  /** Bytes sent and received by the GPU since driver load. */
  readonly txBytes: number | null;
  readonly rxBytes: number | null;
  /** Bytes per second and direction. */
  readonly speedBytesPerS: number | null;
  /** False for `<inactive>`; null when the output does not say. */
  readonly active: boolean | null;
}

export interface SmiNvlinkGpu {
  readonly index: number;
  readonly uuid: string;
  readonly links: readonly SmiNvlink[];
  /** What was printed in place of links (no NVLink, MIG mode, all inactive); null otherwise. */
  readonly message: string | null;
}

const KIB = 1024;
const COUNTER = /^\s+Link (\d+): (?:Data |Raw )?(Tx|Rx)\d?: (.+)$/;
const STATUS = /^\s+Link (\d+): (.+)$/;

/**
 * Reads `nvlink -s` (speeds) and `nvlink -gt d`, `-gt r` or the old `-g 0` (cumulative KiB): GPU headings, then a line a link or a line a
 * link and direction. Anything else below a heading is that GPU's message; lines before the first heading are passed over.
 */
export const parseSmiNvlink = (text: string): readonly SmiNvlinkGpu[] => {
  const gpus: { index: number; uuid: string; links: Map<number, SmiNvlink>; message: string | null }[] = [];
  const update = (link: number, part: Partial<SmiNvlink>): void => {
    const links = gpus.at(-1)?.links;
    const before = links?.get(link) ?? { link, txBytes: null, rxBytes: null, speedBytesPerS: null, active: null };
    links?.set(link, { ...before, ...part });
  };
  for (const line of text.split(/\r?\n/)) {
    const heading = parseGpuHeading(line);
    const counter = COUNTER.exec(line);
    const status = STATUS.exec(line);
    if (heading) {
      gpus.push({ index: heading.index, uuid: heading.uuid, links: new Map(), message: null });
    } else if (counter) {
      const cell = parseSmiCell(counter[3]!);
      const bytes = cell.kind === "number" && cell.unit === "KiB" ? cell.value * KIB : null;
      update(Number(counter[1]), counter[2] === "Tx" ? { txBytes: bytes } : { rxBytes: bytes });
    } else if (status) {
      const cell = parseSmiCell(status[2]!);
      const speed = cell.kind === "number" && cell.unit === "GB/s" ? cell.value * 1e9 : null;
      update(Number(status[1]), { speedBytesPerS: speed, active: /inactive/i.test(status[2]!) ? false : speed === null ? null : true });
    } else if (line.trim() !== "" && gpus.length > 0 && gpus.at(-1)!.links.size === 0) {
      gpus.at(-1)!.message ??= line.trim();
    }
  }
  return gpus.map((gpu) => ({ ...gpu, links: [...gpu.links.values()] }));
};

/** The sum of one direction over all links; null unless every link has a number, because a partial sum would jump. */
export const sumLinks = (links: readonly SmiNvlink[], side: "txBytes" | "rxBytes"): number | null => {
  if (links.length === 0) return null;
  let sum = 0;
  for (const link of links) {
    const bytes = link[side];
    if (bytes === null) return null;
    sum += bytes;
  }
  return sum;
};
