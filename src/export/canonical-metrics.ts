import { ENTITY_KINDS, type EntityKind } from "../../schemas/columns/index.js";
import { COLUMN_METRICS } from "../../schemas/metric-catalogue.js";
import type { EntityRef } from "../../schemas/samples.js";
import type { ExpositionFamily } from "../text/exposition-writer.js";
import type { LatestEntity } from "./latest-values.js";

type Labels = Record<string, string>;

const identity: Readonly<Record<EntityKind, (entity: EntityRef) => Labels>> = {
  gpu: ({ key, labels }) => {
    const slash = key.indexOf("/");
    return {
      gpu: labels.index ?? "",
      uuid: slash < 0 ? key : key.slice(0, slash),
      gpu_instance: slash < 0 ? "" : key.slice(slash + 1),
    };
  },
  host: () => ({}),
  process: ({ key, labels }) => ({
    process: key,
    role: labels.role ?? "",
    name: labels.name ?? "",
    pid: labels.pid ?? "",
    server: labels.server ?? "",
  }),
  link: ({ key, labels }) => ({ link: key, type: labels.type ?? "", gpu: labels.gpu ?? "" }),
  server: ({ key, labels }) => ({ server: key, engine: labels.engine ?? "", rank: labels.rank ?? "", model: labels.model ?? "" }),
};

function labelsOf({ entity, source }: LatestEntity): Labels {
  const all: Labels = { node: entity.node, ...identity[entity.kind](entity), source };
  for (const name of Object.keys(all)) if (all[name] === "") delete all[name];
  return all;
}

/** The latest readings as metric families (`whyslow_gpu_…`, `whyslow_host_…`, …), in base units. A missing value has no sample. */
export function canonicalFamilies(latest: Readonly<Record<EntityKind, readonly LatestEntity[]>>): ExpositionFamily[] {
  const families: ExpositionFamily[] = [];
  for (const kind of ENTITY_KINDS) {
    const labelled = latest[kind].map((one) => ({ labels: labelsOf(one), values: one.values }));
    COLUMN_METRICS[kind].forEach((metric, i) => {
      const samples = labelled.flatMap(({ labels, values }) => {
        const value = values[i]!;
        return Number.isNaN(value) ? [] : [{ labels, value: value * metric.scale }];
      });
      if (samples.length > 0) families.push({ name: metric.name, help: metric.help, type: metric.type, samples });
    });
  }
  return families;
}
