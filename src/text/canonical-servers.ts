import type { Labels } from "../../schemas/maps/index.js";
import { type BinLane, type EntityBin, type SeriesLane, unitedLabels } from "./canonical-bin.js";
import { portPart } from "./canonical-node.js";

/** An engine with its name: what one `EntityRef` will be. */
export interface NamedServer {
  readonly source: string;
  readonly bin: EntityBin;
  readonly key: string;
  readonly labels: Labels;
  readonly columns: readonly BinLane[];
  readonly series: readonly SeriesLane[];
}

interface Draft {
  readonly bin: EntityBin;
  readonly engine: string;
  readonly instance: string;
  readonly rank: string;
  readonly labels: Record<string, string>;
  readonly columns: BinLane[];
  readonly series: SeriesLane[];
}

const alive = <T extends { readonly lane: { readonly n: number } }>(lanes: Iterable<T>): T[] => [...lanes].filter((l) => l.lane.n > 0);

/**
 * Names the engines of a text, `ENGINE:INSTANCE/RANK`: the instance is the scraped address when `instance` gives it (live),
 * else the pod, the address label or the model. Two models behind one address stay two servers. The process that serves the
 * page belongs to the engine of lowest rank behind the same pod or address.
 */
export function nameServers(
  bins: readonly EntityBin[],
  companions: readonly EntityBin[],
  instance: string | undefined,
  extraLabels: Labels,
): NamedServer[] {
  const drafts = bins.flatMap((bin) => splitByModel(bin, instance, extraLabels));
  for (const companion of companions) {
    const owner = lowestRank(ownersOf(companion, drafts, instance));
    owner?.columns.push(...alive(companion.columns.values()));
  }
  const uses = new Map<string, number>();
  for (const d of drafts) uses.set(keyOf(d), (uses.get(keyOf(d)) ?? 0) + 1);
  return drafts.map((d) => ({
    source: d.bin.map!.source,
    bin: d.bin,
    key: uses.get(keyOf(d)) === 1 ? keyOf(d) : `${d.engine}:${distinct(d)}/${d.rank}`,
    labels: d.labels,
    columns: d.columns,
    series: d.series,
  }));
}

const keyOf = (d: Draft): string => `${d.engine}:${d.instance}/${d.rank}`;

/** The same pod name in two namespaces, two servers in one pod, or two models behind one address. */
function distinct(d: Draft): string {
  const port = d.instance === d.labels.pod ? portPart(d.bin.hint.instance) : "";
  return [d.labels.namespace, port === "" ? d.instance : `${d.instance}:${port}`, d.labels.model]
    .filter((part) => part !== undefined)
    .join("/");
}

function splitByModel(bin: EntityBin, instance: string | undefined, extraLabels: Labels): Draft[] {
  const columns = alive(bin.columns.values());
  const series = alive(bin.series.values());
  const models = [...new Set([...columns, ...series].map((l) => l.model).filter((m) => m !== ""))].sort();
  return (models.length > 0 ? models : [""]).map((model, i) => {
    const mine = (lane: { readonly model: string }): boolean => lane.model === model || (i === 0 && lane.model === "");
    const rows = [...bin.drafts].filter((d) => (d.labels.model ?? "") === "" || d.labels.model === model);
    const labels = { ...unitedLabels(rows), ...extraLabels };
    return {
      bin,
      engine: bin.map!.engine ?? bin.map!.source,
      instance: instance ?? labels.pod ?? labels.instance ?? (model || "default"),
      rank: bin.key,
      labels,
      columns: columns.filter(mine),
      series: series.filter(mine),
    };
  });
}

function ownersOf(companion: EntityBin, drafts: readonly Draft[], instance: string | undefined): readonly Draft[] {
  const { pod, instance: address } = companion.hint;
  if (instance !== undefined) return drafts;
  if (pod !== "") {
    const same = drafts.filter((d) => d.bin.hint.pod === pod || (pod.startsWith("/") && d.bin.hint.pod.endsWith(pod)));
    const exact = same.filter((d) => portPart(d.bin.hint.instance) === portPart(address));
    if (same.length > 0) return exact.length > 0 ? exact : same;
  }
  if (address !== "") return drafts.filter((d) => d.bin.hint.instance === address);
  const instances = new Set(drafts.map((d) => `${d.engine}:${d.instance}`));
  return pod === "" && instances.size === 1 ? drafts : [];
}

function lowestRank(drafts: readonly Draft[]): Draft | undefined {
  return [...drafts].sort((a, b) => Number(a.rank) - Number(b.rank) || (a.rank < b.rank ? -1 : 1))[0];
}
