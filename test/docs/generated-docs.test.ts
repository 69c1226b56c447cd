import fs from "node:fs";
import { describe, expect, it } from "vitest";
import { ENTITY_KINDS } from "../../schemas/columns/index.js";
import { AppError, ERROR_CODES, type ErrorCode } from "../../schemas/error-codes.js";
import { AGENT_METRICS, COLUMN_METRICS, ENTITY_LABELS, type MetricSpec } from "../../schemas/metric-catalogue.js";

// docs/metrics.md and docs/errors.md are made from the schemas: `WHYSLOW_UPDATE_DOCS=1 npx vitest run test/docs` writes them.
const update = process.env.WHYSLOW_UPDATE_DOCS === "1";

function agrees(name: string, expected: string): void {
  const file = new URL(`../../docs/${name}`, import.meta.url);
  if (update) fs.writeFileSync(file, expected);
  expect(fs.readFileSync(file, "utf8")).toBe(expected);
}

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
const code = (text: string): string => `\`${text}\``;
const list = (labels: readonly string[]): string => labels.map(code).join(", ");

const TITLES = {
  gpu: "GPUs and MIG instances",
  host: "The node",
  process: "Processes and control groups of inference servers",
  link: "NICs, InfiniBand, NVLink and PCIe",
  server: "Inference servers",
} as const;

function metricsPage(): string {
  const row = ({ name, type, help }: MetricSpec): string[] => [code(name), type, help];
  const kinds = ENTITY_KINDS.map((kind) =>
    [
      `## ${TITLES[kind]}`,
      `Labels: ${list(ENTITY_LABELS[kind])}.`,
      table(["metric", "type", "meaning"], COLUMN_METRICS[kind].map(row)),
    ].join("\n\n"),
  );
  const own = Object.values(AGENT_METRICS).map((m: MetricSpec) => [code(m.name), m.type, list(m.labels), m.help]);
  return `${[
    "# Metrics of the agent",
    "Made from `schemas/metric-catalogue.ts`; a test keeps the two the same. `GET /metrics` shows the latest reading of every source in base units. A label that would be empty is left out; `source` tells two sources of the same figure apart. A reading vanishes when its source has not given it for five of its intervals, at least 15 s: a missing value is never shown as zero. The numbers are for dashboards; the correlator works on the stored samples, which carry times.",
    ...kinds,
    "## The agent itself",
    table(["metric", "type", "labels", "meaning"], own),
    "Beside these there are the figures of its own process by prom-client: `whyslow_agent_process_*` (CPU, memory, file descriptors) and `whyslow_agent_nodejs_*` (event loop, heap, garbage collection).",
  ].join("\n\n")}\n`;
}

function errorsPage(): string {
  const rows = (Object.keys(ERROR_CODES) as ErrorCode[]).map((name) => [
    code(name),
    String(new AppError(name, "").exitStatus),
    ERROR_CODES[name],
  ]);
  return `${[
    "# Errors",
    "Made from `schemas/error-codes.ts`; a test keeps the two the same. An error is one line on standard error: what and where, then what mends it, then the code in brackets.",
    table(["code", "exit status", "meaning"], rows),
    "Exit status 0: done, whether there were spikes or not. 1: it failed. 2: the call or the configuration was wrong. 3: a gate said no (`correlate --fail-on`, `doctor`).",
  ].join("\n\n")}\n`;
}

describe("generated documentation", () => {
  it("docs/metrics.md lists every metric", () => agrees("metrics.md", metricsPage()));
  it("docs/errors.md lists every error", () => agrees("errors.md", errorsPage()));
});
