import { columnSpec, type EntityKind } from "../../schemas/columns/index.js";
import type { EntityDraft, Labels, MapRule, SourceMap } from "../../schemas/maps/index.js";
import { EntityBin } from "./canonical-bin.js";
import type { Lane } from "./canonical-lane.js";
import { type NodeHint, nodeHint, portPart } from "./canonical-node.js";
import { normaliseName, type Refusal, type RuleIndex, readValue, ruleApplies } from "./canonical-rules.js";
import type { ScannedSeries } from "./exposition-scanner.js";

export interface Target {
  readonly lane: Lane;
  readonly read: (value: number) => number | Refusal;
}

/** What a series means: where its readings go, and what its labels tell. */
export interface Resolution {
  readonly source: string;
  readonly engine: string | null;
  readonly hint: NodeHint;
  readonly ofHost: boolean;
  readonly bins: readonly { readonly bin: EntityBin; readonly draft: EntityDraft }[];
  readonly targets: readonly Target[];
  readonly manifest: Labels;
  /** The text in which it was last met. */
  text: number;
}

export type Bins = Map<string, EntityBin>;

/** Understands one series; null when nothing of ours is in it. */
export function resolveSeries(series: ScannedSeries, rules: RuleIndex, bins: Bins): Resolution | null {
  const match = rules.find(series.name);
  if (match === null) return null;
  const labels = series.labels;
  const hint = nodeHint(labels);
  const identity = `${series.name}${JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)))}`;

  if (match.as === "companion") {
    const bin = findBin(bins, `companion\0${hint.pod}\0${hint.instance}`, () => new EntityBin(null, "server", "", hint));
    const targets = match.rules.map((rule) => columnTarget(bin, rule, labels, identity, null, ""));
    return resolution("", null, hint, "server", [{ bin, draft: { key: "", labels: {} } }], targets, {});
  }

  const { map } = match;
  const metric = normaliseName(series.name);
  const drafts = new Map<EntityKind, { bin: EntityBin; draft: EntityDraft } | null>();
  const binOf = (kind: EntityKind): { bin: EntityBin; draft: EntityDraft } | null => {
    let found = drafts.get(kind);
    if (found === undefined) {
      const draft = map.entity(kind, labels, metric);
      found = draft === null ? null : { draft, bin: binFor(bins, map, kind, draft, hint) };
      drafts.set(kind, found);
    }
    return found;
  };

  const targets: Target[] = [];
  if (match.as === "series") {
    const found = binOf(map.extra_kind ?? "server");
    if (found === null) return null;
    const own = seriesLabels(map, labels);
    const lane = found.bin.seriesLane({ metric: series.name, labels: own, counter: match.counter, model: modelOf(found.draft) }).lane;
    targets.push({ lane, read: (value) => (Number.isFinite(value) ? value : "not_finite") });
  } else {
    if (match.rules.length === 0 && map.extra_kind !== undefined) binOf(map.extra_kind);
    for (const rule of match.rules) {
      if (!ruleApplies(rule, labels)) continue;
      const found = binOf(rule.kind);
      if (found !== null) targets.push(columnTarget(found.bin, rule, labels, identity, map, modelOf(found.draft), found.draft.owner));
    }
  }
  const used = [...drafts.values()].filter((d) => d !== null);
  if (used.length === 0) return null;
  return resolution(map.source, map.engine ?? null, hint, used[0]!.bin.kind, used, targets, manifestFacts(map, labels));
}

function resolution(
  source: string,
  engine: string | null,
  hint: NodeHint,
  kind: EntityKind,
  bins: Resolution["bins"],
  targets: readonly Target[],
  manifest: Labels,
): Resolution {
  return { source, engine, hint, ofHost: kind !== "server", bins, targets, manifest, text: -1 };
}

/** A target that two jobs scrape shows every series twice. */
const SCRAPE_LABELS: readonly string[] = ["job", "exported_job", "service", "endpoint", "instance", "prometheus", "prometheus_replica"];

function columnTarget(
  bin: EntityBin,
  rule: MapRule,
  labels: Labels,
  identity: string,
  map: SourceMap | null,
  model: string,
  owner = "",
): Target {
  const spec = columnSpec(rule.kind, rule.column);
  if (spec === undefined) throw new Error(`map names a column that ${rule.kind} does not have: ${rule.column}`);
  const replica = [...(map?.replicas ?? []), ...SCRAPE_LABELS].map((name) => labels[name] ?? "").join("/");
  const { lane } = bin.columnLane(identity, { rule, replica, owner, model });
  return { lane, read: (value) => readValue(rule, spec, value, labels) };
}

const modelOf = (draft: EntityDraft): string => draft.labels.model ?? "";

function findBin(bins: Bins, id: string, make: () => EntityBin): EntityBin {
  let bin = bins.get(id);
  if (bin === undefined) {
    bin = make();
    bins.set(id, bin);
  }
  return bin;
}

function binFor(bins: Bins, map: SourceMap, kind: EntityKind, draft: EntityDraft, hint: NodeHint): EntityBin {
  // A UUID is the same device on every row, with or without the node's name; an index is one only together with its node.
  const worldwide = kind === "gpu" && !draft.key.startsWith("index:");
  // A pod that starts again has a new address but its old port; two servers of one pod have two ports.
  const server = hint.pod === "" ? hint.instance : `${hint.pod}\0${portPart(hint.instance)}`;
  const where = worldwide ? "" : kind === "server" ? server : `${hint.named}\0${hint.address}`;
  return findBin(bins, [map.source, kind, where, draft.key].join("\0"), () => new EntityBin(map, kind, draft.key, hint));
}

/** The labels that tell the series of one entity apart; bounds are written as JavaScript writes the number. */
function seriesLabels(map: SourceMap, labels: Labels): Labels {
  const own: Record<string, string> = {};
  for (const [name, value] of Object.entries(labels)) {
    if (map.entity_labels?.includes(name) === true) continue;
    own[name] = name === "le" && Number.isFinite(Number(value)) ? String(Number(value)) : value;
  }
  return own;
}

function manifestFacts(map: SourceMap, labels: Labels): Labels {
  const facts: Record<string, string> = {};
  for (const [label, key] of Object.entries(map.manifest ?? {})) {
    const value = labels[label] ?? "";
    if (value !== "" && !value.startsWith("<<<") && !value.startsWith("[")) facts[key] = value;
  }
  return facts;
}
