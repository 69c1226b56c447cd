import fs from "node:fs";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { parseComputeApps } from "../../src/text/nvidia-smi-compute-apps.js";
import { createSmiCsvReader } from "../../src/text/nvidia-smi-csv.js";
import { createDmonReader } from "../../src/text/nvidia-smi-dmon.js";
import { classifySmiEnd } from "../../src/text/nvidia-smi-errors.js";
import { parseSmiFieldList } from "../../src/text/nvidia-smi-fields.js";
import { readGpuRow } from "../../src/text/nvidia-smi-gpu-row.js";
import { parseSmiList } from "../../src/text/nvidia-smi-list.js";
import { parseSmiNvlink } from "../../src/text/nvidia-smi-nvlink.js";
import { parseSmiTopo } from "../../src/text/nvidia-smi-topo.js";
import { parseSmiXml } from "../../src/text/nvidia-smi-xml.js";
import { parseTrtllmIterations } from "../../src/text/trtllm-iterations.js";
import { canonical } from "../text/canonical-reading.js";
import { HAS_SHARED, importInto, SHARED } from "./run-import.js";

/** What a reader made of a file: rows that it kept, rows that it refused by reason, and what it says of the file as a whole. */
interface Taken {
  readonly reader: string;
  readonly kept: number;
  readonly refused: Readonly<Record<string, number>>;
  readonly said?: string;
}

type Take = (text: string, at: string) => Taken | Promise<Taken>;

const sum = (counts: Readonly<Record<string, number>>): number => Object.values(counts).reduce((a, b) => a + b, 0);
const count = (into: Record<string, number>, reason: string): void => {
  into[reason] = (into[reason] ?? 0) + 1;
};

const page: Take = (text) => {
  const { samples, series, summary } = canonical(text, { node: "n" });
  const refused: Record<string, number> = {};
  for (const reasons of Object.values(summary.rejected))
    for (const [reason, n] of Object.entries(reasons)) refused[reason] = (refused[reason] ?? 0) + n;
  return {
    reader: "exposition page",
    kept: samples.length + series.length,
    refused,
    ...(summary.sources.length === 0 ? { said: "no metric of a known source" } : {}),
  };
};

/** Whether the file is one that `whyslow import` takes; the clock is given, so that what can be placed is. */
const imported: Take = async (_text, at) => {
  const { outcome } = await importInto([at], { node: "n", clock: { zone: "UTC", anchor: Date.UTC(2026, 8, 3, 9) * 1000 } });
  const file = outcome.files[0]!;
  const kept = file.requests + file.samples + file.series + file.marks;
  return { reader: `import: ${file.format}`, kept, refused: file.rejected, said: file.warnings.join("; ") };
};

const lines =
  <E extends { readonly kind: string }>(
    reader: string,
    create: () => { push(line: string): E },
    refusedOf: (event: E) => Readonly<Record<string, number>>,
  ): Take =>
  (text) => {
    const refused: Record<string, number> = {};
    let kept = 0;
    const read = create();
    for (const line of text.split("\n")) {
      const event = read.push(line);
      if (event.kind === "row") kept++;
      for (const [reason, n] of Object.entries(refusedOf(event))) refused[reason] = (refused[reason] ?? 0) + n;
    }
    return { reader, kept, refused };
  };

const why = (event: { readonly kind: string }): Record<string, number> => {
  const { reason, problem } = event as { reason?: string; problem?: { state: string } };
  return reason !== undefined ? { [reason]: 1 } : problem !== undefined ? { [problem.state]: 1 } : {};
};
const csv = lines("nvidia-smi csv", createSmiCsvReader, (e) => (e.kind === "row" ? readGpuRow(e.row).refused : why(e)));
const dmon = lines("nvidia-smi dmon", createDmonReader, (e) => (e.kind === "row" ? e.row.refused : why(e)));
const parsed =
  (reader: string, parse: (text: string) => number): Take =>
  (text) => ({ reader, kept: parse(text), refused: {} });
const problems: Take = (text) => {
  const found = classifySmiEnd({ stdout: text, stderr: "", exitCode: 0, timedOut: false, notFound: false });
  const refused: Record<string, number> = {};
  for (const problem of found) count(refused, problem.state);
  return { reader: "nvidia-smi messages", kept: 0, refused };
};
const computeApps: Take = (text) => {
  const kept = parseComputeApps(text).apps?.length ?? 0;
  return { reader: "nvidia-smi compute apps", kept, refused: {}, ...(kept === 0 ? { said: "a header alone: no process" } : {}) };
};
/** Output for people, whose figures the other outputs carry; nothing asks for it. */
const unread =
  (reason: string): Take =>
  () => ({ reader: "not read", kept: 0, refused: {}, said: reason });

/** The first pattern that matches the path below samples/ takes the file. */
const READERS: readonly (readonly [RegExp, Take])[] = [
  [/^dcgm-exporter\/.*\.prom$|^server-metrics\/.*\.prom$/, page],
  [
    /^server-metrics\/trtllm.*\.json$/,
    (text) => {
      const read = parseTrtllmIterations(text);
      return { reader: "trtllm-serve iterations", kept: read.kind === "iterations" ? read.engines.length : 0, refused: {} };
    },
  ],
  [/^nvidia-smi\/compute-apps/, computeApps],
  [/^nvidia-smi\/csv-.*(?:noheader|reset-all)/, imported],
  [/^nvidia-smi\/csv-/, csv],
  [/^nvidia-smi\/dmon-/, dmon],
  [/^nvidia-smi\/err-/, problems],
  [/^nvidia-smi\/help-query/, parsed("nvidia-smi field list", (text) => parseSmiFieldList(text).size)],
  [/^nvidia-smi\/list-/, parsed("nvidia-smi -L", (text) => parseSmiList(text).length)],
  [/^nvidia-smi\/nvlink-/, parsed("nvidia-smi nvlink", (text) => parseSmiNvlink(text).length)],
  [/^nvidia-smi\/topo-/, parsed("nvidia-smi topo -m", (text) => parseSmiTopo(text).rows.length)],
  [/^nvidia-smi\/qx-/, parsed("nvidia-smi -q -x", (text) => parseSmiXml(text)?.gpus.length ?? 0)],
  [
    /^nvidia-smi\/(?:q-text|table|pmon|help-h|version)-/,
    unread("text for people; -q -x, --query-gpu and --query-compute-apps carry its figures"),
  ],
  [/^benchmarks\/nccl-inspector-/, unread("collective events of NCCL's inspector are not read yet")],
  [/^benchmarks\/nsys-/, unread("a schema without rows; Nsight exports are not read yet")],
  [/^otlp\/otlp-spec-example-metrics/, unread("OTLP metrics; only traces are taken in")],
  [/^(?:benchmarks|otlp)\//, imported],
];

const samples = path.join(SHARED, "samples");
const files = HAS_SHARED
  ? fs
      .readdirSync(samples, { recursive: true, encoding: "utf8" })
      .filter((name) => fs.statSync(path.join(samples, name)).isFile() && !/INDEX\.tsv$|\.md$/.test(name))
      .sort()
  : [];

/** Files of which nothing can be kept: their rows are counted, or they hold none. */
const NOTHING_KEPT =
  /^nvidia-smi\/(?:err-|compute-apps-h100-590.48.01-idle|csv-.*(?:noheader|reset-all)|nvlink-s-l40s)|^dcgm-exporter\/(?:xid-45|a100-mig-null|timeslice|xid-count|entity-groups)|^benchmarks\/(?:llmperf|inference-perf|vllm-benchmark|mlperf|nccl-tests)|^otlp\/otlp-spec/;

describe.skipIf(!HAS_SHARED)("every file of the shared samples (skipped only where ../shared/samples is not there)", () => {
  const table: string[] = [];
  afterAll(() => {
    if (process.env.WHYSLOW_SHOW_TABLE === "1") process.stdout.write(`${table.join("\n")}\n`);
  });

  it.each(files)("%s is taken by its reader: rows kept, rows refused and why", async (file) => {
    const take = READERS.find(([pattern]) => pattern.test(file))?.[1];
    expect(take, "no reader").toBeDefined();
    const at = path.join(samples, file);
    const taken = await take!(fs.readFileSync(at, "utf8"), at);
    table.push([file, taken.reader, taken.kept, JSON.stringify(taken.refused), taken.said ?? ""].join("\t"));
    // Never silently empty: either rows are kept, or it is said why not.
    if (taken.kept === 0) expect(sum(taken.refused) + (taken.said ?? "").length, "silently empty").toBeGreaterThan(0);
    if (taken.reader !== "not read" && !NOTHING_KEPT.test(file)) expect(taken.kept).toBeGreaterThan(0);
  });
});
