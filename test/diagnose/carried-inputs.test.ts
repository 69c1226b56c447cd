import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { COLUMNS, type EntityKind } from "../../schemas/columns/index.js";
import { defaultDecisionTable } from "../../schemas/decision-table.js";
import { correlate } from "../../src/cli/correlation.js";
import { importFiles, recogniseFiles } from "../../src/intake/import-files.js";
import { openStore } from "../../src/store/open-store.js";

const FIXTURES = fileURLToPath(new URL("../fixtures/lab/", import.meta.url));
const table = defaultDecisionTable();
const REQUEST_FIELDS = ["gaps", "ttft", "server_ttft", "queue", "prefill", "transfer", "input_tokens", "output_tokens", "cached_tokens"];

async function reportOf(files: string[]) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "whyslow-carried-"));
  const store = openStore(path.join(folder, "t.db"), { mode: "write" });
  try {
    store.runs.create("r");
    await importFiles(await recogniseFiles(files), { run: "r", sink: store.sink });
    return correlate(store, { select: { run: "r" }, slo_ms: {} }, table);
  } finally {
    store.close();
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

describe("what inputs carry which fact", () => {
  it("is said in columns that exist", () => {
    for (const row of table.facts) {
      for (const need of row.needs.flat()) {
        const [kind, name] = need.split(".") as [string, string];
        const known =
          kind === "request"
            ? REQUEST_FIELDS.includes(name)
            : need === "gpu.group" || COLUMNS[kind as EntityKind].some((c) => c.name === name);
        expect([row.name, need, known]).toEqual([row.name, need, true]);
      }
    }
  });

  it.each(["compute", "kv_cache", "communication"])("never calls missing what gave evidence: %s", async (name) => {
    const folder = path.join(FIXTURES, name);
    const files = fs.readdirSync(folder).filter((f) => !f.startsWith("labels"));
    const report = await reportOf(files.map((f) => path.join(folder, f)));
    const said = new Set(report.episodes.flatMap((e) => e.evidence.map((row) => row.fact)));
    expect(said.size).toBeGreaterThan(4);
    expect(report.data.missing.filter((fact) => said.has(fact))).toEqual([]);
    expect(report.data.missing).not.toContain("tensor_hi");
    expect(report.data.missing).not.toContain("smi_prefill");
  });

  it("calls everything missing that needs telemetry when there is none", async () => {
    const folder = path.join(FIXTURES, "compute");
    const requests = fs.readdirSync(folder).filter((f) => f.startsWith("profile") || f.startsWith("traces"));
    const report = await reportOf(requests.map((f) => path.join(folder, f)));
    expect(report.data.missing).toEqual(expect.arrayContaining(["tensor_hi", "kv_full", "cpu_pegged", "link_hi"]));
    expect(report.data.missing).not.toContain("prefill_surge");
    expect(report.data.missing).not.toContain("rank_imbalance");
    for (const e of report.episodes) expect(e.missing).toEqual(report.data.missing);
  });
});
