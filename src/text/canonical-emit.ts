import type { EntityRef, Sample, SeriesSample } from "../../schemas/samples.js";
import { type BinLane, type EntityBin, type SeriesLane, unitedLabels } from "./canonical-bin.js";
import { mergeLanes } from "./canonical-merge.js";
import { nameServers } from "./canonical-servers.js";

/** Readings of one source on one node. */
export interface CanonicalBatch {
  readonly source: string;
  readonly node: string;
  readonly samples: readonly Sample[];
  readonly series: readonly SeriesSample[];
}

export interface EmitOptions {
  readonly epoch: number;
  readonly instance: string | undefined;
  readonly server_labels: Readonly<Record<string, string>>;
  readonly max_rows: number;
  nodeOf(bin: EntityBin): string;
  isCounter(metric: string): boolean;
  refuse(source: string, reason: string, count: number): void;
}

interface Placed {
  readonly source: string;
  readonly entity: EntityRef;
  readonly columns: BinLane[];
  readonly series: SeriesLane[];
}

/** Merges every entity's series and hands the rows out in batches, entity after entity, in a fixed order. */
export function* emitBatches(bins: Iterable<EntityBin>, options: EmitOptions): Generator<CanonicalBatch> {
  const groups = new Map<string, Placed[]>();
  for (const placed of placeAll([...bins], options)) {
    const id = `${placed.source}\0${placed.entity.node}`;
    const group = groups.get(id);
    if (group === undefined) groups.set(id, [placed]);
    else group.push(placed);
  }
  for (const id of [...groups.keys()].sort()) {
    const group = groups.get(id)!;
    const source = group[0]!.source;
    const node = group[0]!.entity.node;
    let samples: Sample[] = [];
    let series: SeriesSample[] = [];
    for (const placed of group.sort((a, b) => (a.entity.key < b.entity.key ? -1 : 1))) {
      for (const sample of samplesOf(placed, options)) {
        samples.push(sample);
        if (samples.length >= options.max_rows) {
          yield { source, node, samples, series: [] };
          samples = [];
        }
      }
      for (const sample of seriesOf(placed, options)) {
        series.push(sample);
        if (series.length >= options.max_rows) {
          yield { source, node, samples: [], series };
          series = [];
        }
      }
    }
    if (samples.length + series.length > 0) yield { source, node, samples, series };
  }
}

/** Gives every bin its node and key; bins that turn out to be one entity become one. */
function placeAll(bins: readonly EntityBin[], options: EmitOptions): Placed[] {
  const placed = new Map<string, Placed>();
  const put = (source: string, entity: EntityRef, columns: readonly BinLane[], series: readonly SeriesLane[]): void => {
    const id = [source, entity.kind, entity.node, entity.key].join("\0");
    const there = placed.get(id);
    if (there === undefined) placed.set(id, { source, entity, columns: [...columns], series: [...series] });
    else {
      there.columns.push(...columns);
      there.series.push(...series);
    }
  };
  for (const bin of bins) {
    if (bin.kind === "server" || bin.map === null) continue;
    const node = options.nodeOf(bin);
    const key = bin.kind === "host" ? node : bin.key;
    put(
      bin.map.source,
      { kind: bin.kind, node, key, labels: unitedLabels(bin.drafts) },
      [...bin.columns.values()],
      [...bin.series.values()],
    );
  }
  const servers = bins.filter((b) => b.kind === "server" && b.map !== null);
  const companions = bins.filter((b) => b.map === null);
  for (const server of nameServers(servers, companions, options.instance, options.server_labels)) {
    const node = options.nodeOf(server.bin);
    put(server.source, { kind: "server", node, key: server.key, labels: server.labels }, server.columns, server.series);
  }
  return [...placed.values()];
}

function* samplesOf(placed: Placed, options: EmitOptions): Generator<Sample> {
  const lanes = placed.columns.filter((l) => l.lane.n > 0);
  if (lanes.length === 0) return;
  const merged = mergeLanes(lanes, (reason, count) => options.refuse(placed.source, reason, count));
  const columns = [...merged.columns];
  for (let row = 0; row < merged.ts_us.length; row++) {
    const values: Record<string, number> = {};
    let any = false;
    for (const [name, column] of columns) {
      const value = column[row]!;
      if (Number.isNaN(value)) continue;
      values[name] = value;
      any = true;
    }
    if (any) yield { entity: placed.entity, ts_us: merged.ts_us[row]!, epoch: options.epoch, values };
  }
}

function* seriesOf(placed: Placed, options: EmitOptions): Generator<SeriesSample> {
  for (const { metric, labels, counter, lane } of placed.series) {
    if (lane.n === 0) continue;
    lane.sort();
    const type = counter || options.isCounter(metric) ? "counter" : "gauge";
    for (let i = 0; i < lane.n; i++) {
      // Replicas of one server print the same series again.
      if (i > 0 && lane.ts[i] === lane.ts[i - 1]) continue;
      yield { entity: placed.entity, metric, labels, type, ts_us: lane.ts[i]!, epoch: options.epoch, value: lane.values[i]! };
    }
  }
}
