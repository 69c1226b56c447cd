import type { SourceSpec } from "../../../schemas/samples.js";
import { type CanonicalMapper, createCanonicalMapper } from "../../text/canonical-series.js";
import type { ImportContext } from "./importer.js";

/** A mapper for one imported file; rows without a time stamp are refused. */
export function importMapper(context: ImportContext): CanonicalMapper {
  const mapper = createCanonicalMapper({ default_node: context.node });
  mapper.begin(null);
  return mapper;
}

/** Hands on what the mapper understood of a file, and what it refused. `fallback` names the source of lines that could not be read. */
export function giveCanonical(mapper: CanonicalMapper, context: ImportContext, fallback: string): void {
  const nodes = new Map<string, string>();
  const sourceOf = (name: string, node: string): SourceSpec => ({
    name,
    node,
    run: context.run,
    interval_ms: null,
    window_ms: null,
    lag_ms: null,
  });
  for (const { source, node, samples, series } of mapper.batches()) {
    if (!nodes.has(source)) nodes.set(source, node);
    if (samples.length > 0) context.sink.samples(sourceOf(source, node), samples);
    if (series.length > 0) context.sink.series(sourceOf(source, node), series);
  }
  const { rejected, manifest } = mapper.summary();
  for (const [source, reasons] of Object.entries(rejected)) {
    const name = source === "" ? fallback : source;
    for (const [reason, count] of Object.entries(reasons))
      context.sink.rejected(sourceOf(name, nodes.get(name) ?? context.node), reason, count);
  }
  if (Object.keys(manifest).length > 0) context.sink.manifest(context.run, manifest);
}
