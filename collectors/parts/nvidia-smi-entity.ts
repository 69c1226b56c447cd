import type { EntityRef } from "../../schemas/samples.js";

const present = (labels: Readonly<Record<string, string | null>>): Record<string, string> => {
  const known: Record<string, string> = {};
  for (const [name, value] of Object.entries(labels)) if (value !== null) known[name] = value;
  return known;
};

/** A GPU (`UUID`) or MIG instance (`UUID/GPU_I_ID`); labels that are null are left out. */
export const gpuEntity = (node: string, key: string, labels: Readonly<Record<string, string | null>>): EntityRef => ({
  kind: "gpu",
  node,
  key,
  labels: present(labels),
});

/** One NVLink of a GPU. */
export const nvlinkEntity = (node: string, uuid: string, link: number): EntityRef => ({
  kind: "link",
  node,
  key: `nvlink:${uuid}/${link}`,
  labels: { type: "nvlink", gpu: uuid },
});
