/** One line of `nvidia-smi -L`: a GPU and, where MIG is on, its devices. */
export interface SmiListedGpu {
  readonly index: number;
  readonly name: string;
  readonly uuid: string;
  readonly mig: readonly SmiListedMig[];
}

export interface SmiListedMig {
  /** Number within its GPU: the `index` of the XML's `mig_device`. */
  readonly device: number;
  /** `3g.40gb`; free text. */
  readonly profile: string;
  /** `MIG-<uuid>`, or the old `MIG-GPU-<uuid>/GI/CI`. */
  readonly uuid: string;
}

const GPU = /^GPU (\d+): (.*) \(UUID: ([^)\s]+)\)\s*$/;
const MIG = /^\s+MIG (\S+)\s+Device\s+(\d+): \(UUID: ([^)\s]+)\)\s*$/;

/** The heading of a GPU as `-L`, `nvlink -s` and `nvlink -gt d` print it; null for any other line. */
export const parseGpuHeading = (line: string): { readonly index: number; readonly name: string; readonly uuid: string } | null => {
  const m = GPU.exec(line);
  return m ? { index: Number(m[1]), name: m[2]!, uuid: m[3]! } : null;
};

/** Reads `nvidia-smi -L`. Lines that are neither GPU nor MIG device (messages about lost GPUs) are passed over. */
export const parseSmiList = (text: string): readonly SmiListedGpu[] => {
  const gpus: (SmiListedGpu & { mig: SmiListedMig[] })[] = [];
  for (const line of text.split(/\r?\n/)) {
    const gpu = parseGpuHeading(line);
    if (gpu) gpus.push({ ...gpu, mig: [] });
    const mig = MIG.exec(line);
    if (mig) gpus.at(-1)?.mig.push({ device: Number(mig[2]), profile: mig[1]!, uuid: mig[3]! });
  }
  return gpus;
};
