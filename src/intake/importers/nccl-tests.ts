import { busCeiling, parseNcclTests } from "../../text/nccl-tests.js";
import { readDocument } from "../input-lines.js";
import { defineImporter } from "./importer.js";

/** The log of an nccl-tests run: no time in it, but the measured ceiling of the links, which goes to the run's manifest. */
export const ncclTests = defineImporter({
  name: "nccl-tests",
  looks_for: "the log of nccl-tests (size, count, algbw, busbw)",

  recognise(head) {
    return /^#\s+size\s+count\s/m.test(head) && /\balgbw\s+busbw\b/.test(head) ? 0.9 : 0;
  },

  async import(file, context) {
    const source = { name: "nccl-tests", node: context.node, run: context.run, interval_ms: null, window_ms: null, lag_ms: null };
    const run = parseNcclTests(await readDocument(file, context.limits));
    if (run.foreign_lines > 0) context.sink.rejected(source, "not_a_row", run.foreign_lines);
    const ceiling = busCeiling(run);
    const facts: Record<string, string> = {};
    if (ceiling !== null) facts.nccl_bus_bandwidth_gbs = String(ceiling);
    if (run.ranks !== null) facts.nccl_ranks = String(run.ranks);
    if (Object.keys(facts).length > 0) context.sink.manifest(context.run, facts);
    const sizes = `${run.rows.length} message sizes${run.ranks === null ? "" : ` over ${run.ranks} ranks`}`;
    context.warn(
      ceiling === null
        ? `${sizes}, none of 64 MiB or more, so the links' ceiling was not measured`
        : `${sizes}: bus bandwidth of large messages up to ${ceiling} GB/s, kept in the run's manifest${run.failed ? "; its results were wrong" : ""}`,
    );
  },
});
