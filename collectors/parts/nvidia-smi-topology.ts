import type { SmiTopo, SmiTopoRow } from "../../src/text/nvidia-smi-topo.js";

/** A device's connections in one label, NICs by their real names: `GPU1=NV18,mlx5_0=PIX`. */
export const connectionsOf = (row: SmiTopoRow, nics: Readonly<Record<string, string>>): string =>
  Object.entries(row.connections)
    .map(([device, kind]) => `${nics[device] ?? device}=${kind}`)
    .join(",");

/** How the GPUs are connected to each other: `8 GPUs, all NV18`, or the number of pairs of each kind. Null with fewer than two GPUs. */
export const summariseTopology = (topo: SmiTopo): string | null => {
  const gpus = topo.rows.filter((row) => row.name.startsWith("GPU"));
  const pairs = new Map<string, number>();
  gpus.forEach((row, i) => {
    for (const other of gpus.slice(i + 1)) {
      const kind = row.connections[other.name];
      if (kind !== undefined) pairs.set(kind, (pairs.get(kind) ?? 0) + 1);
    }
  });
  if (pairs.size === 0) return null;
  const kinds = [...pairs].sort(([a], [b]) => (a < b ? -1 : 1));
  const text = kinds.length === 1 ? `all ${kinds[0]![0]}` : kinds.map(([kind, n]) => `${kind} x${n}`).join(", ");
  return `${gpus.length} GPUs, ${text}`;
};
