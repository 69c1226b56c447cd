import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import zlib from "node:zlib";
import { defaultDecisionTable } from "../../schemas/decision-table.js";
import type { Report, Spike, VerdictClass } from "../../schemas/index.js";
import { correlate } from "../../src/cli/correlation.js";
import { importFiles, recogniseFiles } from "../../src/intake/import-files.js";
import { openStore } from "../../src/store/open-store.js";

/** The labelled runs beside the repository, where they are. */
export const LAB = fileURLToPath(new URL("../../../shared/lab/dev/", import.meta.url));
export const labRuns = (): string[] => (fs.existsSync(LAB) ? fs.readdirSync(LAB).sort() : []);

interface Label {
  readonly request_id: string;
  readonly spike: boolean | null;
  readonly ttft: VerdictClass[] | null;
  readonly e2e: VerdictClass[] | null;
}

/** Imports and correlates one labelled run as a user would. */
export const correlateLabRun = async (name: string): Promise<Report> => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "whyslow-lab-"));
  const store = openStore(path.join(folder, "t.db"), { mode: "write" });
  try {
    const files = fs.readdirSync(path.join(LAB, name)).filter((f) => !f.startsWith("labels"));
    store.runs.create("lab");
    const known = await recogniseFiles(files.map((f) => path.join(LAB, name, f)));
    const outcome = await importFiles(known, { run: "lab", sink: store.sink });
    store.runs.extend("lab", outcome.range!.start_us, outcome.range!.end_us);
    return correlate(store, { select: { run: "lab" }, slo_ms: {} }, defaultDecisionTable());
  } finally {
    store.close();
    fs.rmSync(folder, { recursive: true, force: true });
  }
};

export interface Tally {
  found: number;
  missed: number;
  quiet: number;
  falsePositives: number;
  readonly byClass: Map<VerdictClass, { right: number; wrong: number; missed: number }>;
}

export const emptyTally = (): Tally => ({ found: 0, missed: 0, quiet: 0, falsePositives: 0, byClass: new Map() });

const first = (s: Spike): boolean => s.metric === "ttft" || s.metric === "queue";

/** Holds one report against its labels: a spike counts for the class on which its excess was spent. */
export const addToTally = (tally: Tally, name: string, report: Report): void => {
  const labels: Label[] = JSON.parse(zlib.gunzipSync(fs.readFileSync(path.join(LAB, name, "labels.json.gz"))).toString()).requests;
  const order = ["ttft", "queue", "e2e", "tpot", "itl"];
  const spikes = new Map<string, Spike[]>();
  for (const s of report.spikes) spikes.set(s.request_id, [...(spikes.get(s.request_id) ?? []), s]);
  const at = (c: VerdictClass) => {
    const entry = tally.byClass.get(c) ?? { right: 0, wrong: 0, missed: 0 };
    tally.byClass.set(c, entry);
    return entry;
  };
  for (const label of labels) {
    const own = [...(spikes.get(label.request_id) ?? [])].sort((a, b) => order.indexOf(a.metric) - order.indexOf(b.metric));
    if (label.spike === false) {
      tally.quiet++;
      if (own.some((s) => s.metric !== "itl")) tally.falsePositives++;
    }
    const wanted = label.ttft ?? label.e2e;
    if (label.spike !== true || wanted === null) continue;
    const main = wanted[wanted.length - 1]!;
    if (own.length === 0) {
      tally.missed++;
      at(main).missed++;
      continue;
    }
    tally.found++;
    const judged = (label.ttft && own.find(first)) || (label.e2e && own.find((s) => !first(s))) || own[0]!;
    const right = first(judged) ? (label.ttft ?? label.e2e)! : (label.e2e ?? label.ttft)!;
    if (right.includes(judged.class)) at(judged.class).right++;
    else {
      at(main).missed++;
      at(judged.class).wrong++;
    }
  }
};
