import { existsSync, readdirSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { Sample, SeriesSample } from "../../schemas/samples.js";
import { type CanonicalSummary, createCanonicalMapper, type MapperOptions } from "../../src/text/canonical-series.js";
import { scanExposition } from "../../src/text/exposition-scanner.js";

const root = new URL("../../", import.meta.url);

export const fixture = (path: string): string => readFileSync(new URL(`test/fixtures/${path}`, root), "utf8");

/** The folder of real payloads beside the repository; null where it is not there. */
export function sharedFolder(path: string): URL | null {
  const url = new URL(`../shared/${path}/`, root);
  return existsSync(url) ? url : null;
}

export const filesOf = (folder: URL | null): string[] => (folder === null ? [] : readdirSync(folder).sort());

export function readShared(folder: URL, file: string): string {
  const bytes = readFileSync(new URL(file, folder));
  return (file.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
}

export interface CanonicalReading {
  readonly samples: readonly Sample[];
  readonly series: readonly SeriesSample[];
  readonly bySource: Readonly<Record<string, number>>;
  readonly summary: CanonicalSummary;
  /** Values of the entity at its first time. */
  of(key: string): Readonly<Record<string, number>> | undefined;
  labels(key: string): Readonly<Record<string, string>> | undefined;
  node(key: string): string | undefined;
}

export const LIVE_US = 1_788_404_001_007_000;

/** Scans and maps one text: `liveUs` null for an import. */
export function canonical(text: string, options: MapperOptions = {}, liveUs: number | null = LIVE_US): CanonicalReading {
  const mapper = createCanonicalMapper(options);
  mapper.begin(liveUs);
  scanExposition(text, mapper);
  const batches = [...mapper.batches()];
  const samples = batches.flatMap((b) => b.samples);
  const bySource: Record<string, number> = {};
  for (const b of batches) bySource[b.source] = (bySource[b.source] ?? 0) + b.samples.length;
  const first = (key: string): Sample | undefined => samples.find((s) => s.entity.key === key);
  return {
    samples,
    series: batches.flatMap((b) => b.series),
    bySource,
    summary: mapper.summary(),
    of: (key) => first(key)?.values,
    labels: (key) => first(key)?.entity.labels,
    node: (key) => first(key)?.entity.node,
  };
}
