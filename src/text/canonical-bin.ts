import type { EntityKind } from "../../schemas/columns/index.js";
import type { EntityDraft, Labels, SourceMap } from "../../schemas/maps/index.js";
import { Lane } from "./canonical-lane.js";
import type { ColumnLane } from "./canonical-merge.js";
import type { NodeHint } from "./canonical-node.js";

/** Servers: the model that the row names; empty when it names none, and for everything else. */
interface OfModel {
  readonly model: string;
}

export interface BinLane extends ColumnLane, OfModel {}

/** One foreign series without a canonical column. */
export interface SeriesLane extends OfModel {
  readonly metric: string;
  readonly labels: Labels;
  readonly counter: boolean;
  readonly lane: Lane;
}

/** What one source says of one entity while a text is read: its series, before they are merged. */
export class EntityBin {
  readonly columns = new Map<string, BinLane>();
  readonly series = new Map<string, SeriesLane>();
  /** What this text's rows say of it; several where a device has several owners. */
  readonly drafts = new Set<EntityDraft>();

  constructor(
    /** Null for the process that serves a page: whose it is, is known at the end. */
    readonly map: SourceMap | null,
    readonly kind: EntityKind,
    readonly key: string,
    public hint: NodeHint,
  ) {}

  columnLane(identity: string, lane: Omit<BinLane, "lane">): BinLane {
    const id = `${lane.rule.column}\0${identity}`;
    let found = this.columns.get(id);
    if (found === undefined) {
      found = { ...lane, lane: new Lane() };
      this.columns.set(id, found);
    }
    return found;
  }

  seriesLane(lane: Omit<SeriesLane, "lane">): SeriesLane {
    const id = `${lane.metric}\0${lane.model}\0${JSON.stringify(lane.labels)}`;
    let found = this.series.get(id);
    if (found === undefined) {
      found = { ...lane, lane: new Lane() };
      this.series.set(id, found);
    }
    return found;
  }

  /** Forgets the readings and labels of the last text, keeps what is known of its series. */
  clear(): void {
    this.drafts.clear();
    for (const lane of this.columns.values()) lane.lane.clear();
    for (const lane of this.series.values()) lane.lane.clear();
  }
}

const SHARED: readonly string[] = ["pod", "namespace", "container"];

/** One set of labels from all rows; owners of a shared device stand side by side, separated by commas. */
export function unitedLabels(drafts: Iterable<EntityDraft>): Record<string, string> {
  const labels: Record<string, string> = {};
  const shared = new Map<string, Set<string>>();
  for (const draft of drafts) {
    for (const [name, value] of Object.entries(draft.labels)) {
      if (SHARED.includes(name)) shared.set(name, (shared.get(name) ?? new Set()).add(value));
      else labels[name] ??= value;
    }
  }
  for (const [name, values] of shared) labels[name] = [...values].sort().join(",");
  return labels;
}
