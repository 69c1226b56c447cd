import { type Labels, SOURCE_MAPS, type SourceMap } from "../../schemas/maps/index.js";
import type { EntityBin } from "./canonical-bin.js";
import { type CanonicalBatch, emitBatches } from "./canonical-emit.js";
import { NodeNames } from "./canonical-node.js";
import { type Resolution, resolveSeries } from "./canonical-resolve.js";
import { RuleIndex } from "./canonical-rules.js";
import type { ExpositionVisitor, ScanError, ScannedSeries } from "./exposition-scanner.js";

export type { CanonicalBatch } from "./canonical-emit.js";

export interface MapperOptions {
  /** Live: every row belongs to this node, whatever its labels call it. */
  readonly node?: string;
  /** Imports: the node of rows when the text names none. Default: empty. */
  readonly default_node?: string;
  /** Live: the instance part of server keys, `HOST:PORT`. */
  readonly instance?: string;
  /** Added to the labels of servers, e.g. `url`. */
  readonly server_labels?: Labels;
  readonly maps?: readonly SourceMap[];
}

export interface CanonicalSummary {
  /** Refused lines and readings: source (empty where a line could not be read at all) → reason → count. */
  readonly rejected: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Keys as in a run's manifest. */
  readonly manifest: Readonly<Record<string, string>>;
  /** Engines whose metrics were there. */
  readonly engines: readonly string[];
  /** Sources whose metrics were there. */
  readonly sources: readonly string[];
}

/** A live scrape believes a line's own timestamp only this close to the scrape. */
const LIVE_STAMP_US = 300e6;
const MAX_ROWS = 10_000;

/**
 * Turns scanned series into canonical samples. `begin` a text, let a scanner visit the mapper, then take `batches` and, after
 * them, the `summary`. A series is understood once and remembered by its object, so the next page of the same scanner costs one
 * look-up a line. An import is kept as columns (16 bytes a reading) until its end: only then is it known which node and server
 * its rows belong to, and OpenMetrics files are sorted by family, not by time.
 */
export class CanonicalMapper implements ExpositionVisitor {
  readonly #options: MapperOptions;
  readonly #rules: RuleIndex;
  readonly #bins = new Map<string, EntityBin>();
  readonly #types = new Map<string, string>();
  #resolved = new WeakMap<ScannedSeries, Resolution | { readonly targets: null }>();
  #text = 0;
  #active = new Set<EntityBin>();
  #nodes = new NodeNames();
  #rejected = new Map<string, Map<string, number>>();
  #manifest: Record<string, string> = {};
  #engines = new Set<string>();
  #sources = new Set<string>();
  #liveUs: number | null = null;
  #epoch = 0;

  constructor(options: MapperOptions = {}) {
    this.#options = options;
    this.#rules = new RuleIndex(options.maps ?? SOURCE_MAPS);
  }

  /**
   * Begins a text. A live page gives the time of its scrape (µs), which stamps every line; an import gives null, and its lines
   * without a timestamp are refused (`no_timestamp`).
   */
  begin(liveUs: number | null, epoch = 0): void {
    for (const bin of this.#active) bin.clear();
    // An agent would else keep the series of pods and processes that are long gone.
    if (this.#bins.size > 4 * this.#active.size + 1000) {
      this.#bins.clear();
      this.#resolved = new WeakMap();
    }
    this.#text++;
    this.#active = new Set();
    this.#nodes = new NodeNames();
    this.#rejected = new Map();
    this.#manifest = {};
    this.#engines = new Set();
    this.#sources = new Set();
    this.#liveUs = liveUs;
    this.#epoch = epoch;
  }

  sample(series: ScannedSeries, value: number, tsUs: number): void {
    let resolution = this.#resolved.get(series);
    if (resolution === undefined) {
      resolution = resolveSeries(series, this.#rules, this.#bins) ?? { targets: null };
      this.#resolved.set(series, resolution);
    }
    if (resolution.targets === null) return;
    if (resolution.text !== this.#text) this.#meet(resolution);
    let ts = tsUs;
    if (this.#liveUs !== null) ts = Math.abs(tsUs - this.#liveUs) <= LIVE_STAMP_US ? tsUs : this.#liveUs;
    else if (Number.isNaN(ts)) {
      this.#refuse(resolution.source, "no_timestamp", 1);
      return;
    }
    for (const target of resolution.targets) {
      const read = target.read(value);
      if (typeof read === "number") target.lane.push(ts, read);
      else if (read !== "none") this.#refuse(resolution.source, read, 1);
    }
  }

  type(name: string, type: string): void {
    this.#types.set(name, type);
  }

  error(error: ScanError): void {
    this.#refuse("", error.reason, 1);
  }

  /** Rows of the text, entity after entity, at most `maxRows` a batch. */
  batches(maxRows = MAX_ROWS): Generator<CanonicalBatch> {
    const { node, default_node: fallback = "", instance, server_labels = {} } = this.#options;
    return emitBatches(this.#active, {
      epoch: this.#epoch,
      instance,
      server_labels,
      max_rows: maxRows,
      nodeOf: (bin) => node ?? this.#nodes.nameOf(bin.hint, bin.kind !== "server", fallback),
      isCounter: (metric) => this.#types.get(metric) === "counter",
      refuse: (source, reason, count) => this.#refuse(source, reason, count),
    });
  }

  /** What was refused and learnt; complete once the batches are taken. */
  summary(): CanonicalSummary {
    const rejected = Object.fromEntries([...this.#rejected].map(([source, reasons]) => [source, Object.fromEntries(reasons)]));
    const engines = [...this.#engines].sort();
    const manifest = engines.length === 1 ? { ...this.#manifest, engine: engines[0]! } : { ...this.#manifest };
    return { rejected, manifest, engines, sources: [...this.#sources].sort() };
  }

  /** The first reading of a series in this text. */
  #meet(resolution: Resolution): void {
    resolution.text = this.#text;
    this.#nodes.learn(resolution.hint, resolution.ofHost);
    if (resolution.source !== "") this.#sources.add(resolution.source);
    if (resolution.engine !== null) this.#engines.add(resolution.engine);
    Object.assign(this.#manifest, resolution.manifest);
    for (const { bin, draft } of resolution.bins) {
      this.#active.add(bin);
      bin.drafts.add(draft);
      if (bin.hint.named === "" && resolution.hint.named !== "") bin.hint = resolution.hint;
    }
  }

  #refuse(source: string, reason: string, count: number): void {
    let reasons = this.#rejected.get(source);
    if (reasons === undefined) {
      reasons = new Map();
      this.#rejected.set(source, reasons);
    }
    reasons.set(reason, (reasons.get(reason) ?? 0) + count);
  }
}

/** A mapper for one page that is scraped again and again, or for one file. */
export const createCanonicalMapper = (options: MapperOptions = {}): CanonicalMapper => new CanonicalMapper(options);
