import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Label } from "../../bench/gpu/score-run.js";
import type { Report } from "../../schemas/report.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const KIT = path.join(ROOT, "bench/gpu");
const hasPython = spawnSync("python3", ["-c", "import sys; sys.exit(sys.version_info < (3, 9))"]).status === 0;
const needsPython = hasPython ? "" : " (SKIPPED: needs python3, 3.9 or newer, which is not here)";

const python = (code: string): unknown =>
  JSON.parse(
    execFileSync("python3", ["-B", "-c", `import sys; sys.path.insert(0, ${JSON.stringify(KIT)})\n${code}`], { encoding: "utf8" }),
  );

describe.skipIf(!hasPython)(`parts in Python${needsPython}`, () => {
  it("encodes and decodes text without loss, and learns merges that shorten it", () => {
    const found = python(`
import json, random
from bpe import train_on
from words import Words
words = Words(size=2000)
encoder = train_on(words, sample=4000, merges=200)
text = words.text(random.Random(3), 300)
ids = encoder.encode(text)
print(json.dumps([encoder.decode(ids) == " " + text, len(ids) < 0.6 * len(text), encoder.size, max(ids) >= 256, encoder.decode(encoder.encode("zürich 東京"))]))`);
    expect(found).toEqual([true, true, 456, true, " zürich 東京"]);
  });

  it("schedules within the pool: no block is lost or held twice, every request ends, a cut pool preempts or blocks", () => {
    const found = python(`
import json, random
from scheduler import Scheduler, Sequence
def play(limit, reserve, seed):
    rng, s = random.Random(seed), Scheduler(400, max_seqs=16, max_batched_tokens=256)
    s.limit, s.reserve = limit, reserve
    seqs = [Sequence(str(i), [1] * rng.randrange(1, 300), rng.randrange(1, 60), rng.randrange(0, 40), 0.0) for i in range(40)]
    s.waiting.extend(seqs)
    steps = 0
    while s.waiting or s.running:
        work = s.plan(steps)
        held = [b for q in s.running for b in q.blocks]
        assert len(held) == len(set(held)) == s.used and len(held) + len(s.free) == 400
        assert work and sum(w.count for w in work) <= 256 and len(s.running) <= 16
        assert s.used <= limit, (s.used, limit)
        for w in work:
            assert len(w.seq.blocks) * 16 >= w.start + w.count
        s.account(work, 0.01, 0.008)
        s.finish_step(work, [5] * sum(w.samples for w in work), steps)
        steps += 1
        assert steps < 20000
    assert all(q.generated == q.max_tokens for q in seqs) and s.used == 0
    return s.preemptions, round(sum(q.booked.get("kv_cache", 0) for q in seqs), 2)
print(json.dumps([[play(400, False, i), play(60, False, i), play(60, True, i)] for i in range(5)]))`) as [number, number][][];
    for (const [wide, cut, reserved] of found) {
      expect(wide![0]).toBe(0);
      expect(cut![0]).toBeGreaterThan(0);
      expect(reserved![0]).toBe(0);
      expect(reserved![1]).toBeGreaterThan(wide![1]);
    }
  });

  it("labels by the twin: spikes, quiet requests, what lies in between, and the class that the excess was booked on", () => {
    const found = python(`
import json
from truth import judge
twin, book = {"ttft": 100, "e2e": 1000}, {"x": {"ttft": {"kv_cache": 0.4, "compute": 0.1}, "e2e": {"compute": 1.2}}, "t": {"ttft": {"compute": 0.1}, "e2e": {"compute": 0.9}}}
def one(ttft, e2e, id="x", fault="kv_cache"):
    l = judge(id, fault, {"ttft": ttft, "e2e": e2e}, twin, book, "t")
    return [l["spike"], l["ttft"], l["e2e"]]
print(json.dumps([one(500, 1400), one(110, 1010), one(170, 1040), one(500, 1600), one(500, 1400, "unknown"), one(500, 1400, "x", None),
  judge("x", "kv_cache", None, twin, book, "t")["spike"]]))`);
    expect(found).toEqual([
      [true, ["kv_cache"], null],
      [false, null, null],
      [null, null, null],
      // The end-to-end excess was half compute's, and half of it nobody saw: no majority, so nothing counts as right there.
      [true, ["kv_cache"], ["cpu_tokenization", "kv_cache"]],
      [true, ["cpu_tokenization", "kv_cache"], null],
      [true, null, null],
      null,
    ]);
  });

  it("plays the same tape in every regime, adds the load of the fault, and never asks for more than the cut pool", () => {
    const found = python(`
import json
from regimes import REGIMES, Plan, PROMPT_MAX, OUTPUT_MAX
p = Plan({"prefill_tokens_per_s": 18000, "pool_blocks": 50000})
bare = lambda r: [{k: v for k, v in q.items() if k != "id"} for q in r if "-b-" in q["id"]]
tapes = [bare(p.requests(name)) for name, *_ in REGIMES]
extra = {name: sum("-x-" in q["id"] for q in p.requests(name)) for name, *_ in REGIMES}
again = Plan({"prefill_tokens_per_s": 18000, "pool_blocks": 50000}).requests("arrival_burst") == p.requests("arrival_burst")
print(json.dumps([all(t == tapes[0] for t in tapes), len(tapes[0]) > 80, extra, again, min(p.kv_limit(n, b) for n in ("kv_blocked", "kv_preempt") for b in (0, 10, 400)) * 16 >= PROMPT_MAX * 1.2 + OUTPUT_MAX]))`) as [
      boolean,
      boolean,
      Record<string, number>,
      boolean,
      boolean,
    ];
    expect([found[0], found[1], found[3], found[4]]).toEqual([true, true, true, true]);
    expect(found[2]).toMatchObject({ baseline: 0, bw_cotenant: 0, kv_blocked: 0, kv_preempt: 0, cpu_starved: 0 });
    for (const name of ["long_prompts", "arrival_burst", "context_growth"]) expect(found[2][name]).toBeGreaterThan(5);
  });
});

describe.skipIf(!hasPython)(`the kit without a GPU${needsPython}`, () => {
  let out: string;
  let log = "";
  const json = (name: string): unknown => {
    const bytes = fs.readFileSync(path.join(out, name));
    return JSON.parse((name.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString());
  };
  const whyslow = (...args: string[]): string =>
    execFileSync(process.execPath, [path.join(ROOT, "dist/src/cli/whyslow.js"), ...args], { encoding: "utf8" });

  beforeAll(() => {
    if (!fs.existsSync(path.join(ROOT, "dist/bench/gpu/score-run.js"))) throw new Error("not built: node scripts/ready.mjs");
    out = fs.mkdtempSync(path.join(os.tmpdir(), "whyslow-kit-out-"));
    const args = ["--node", process.execPath, "--scale", "0.08", "--regimes", "kv_preempt", "--simulate"];
    const run = spawnSync("sh", [path.join(KIT, "run.sh"), ...args], {
      env: { PATH: "/usr/bin:/bin", OUT: out },
      encoding: "utf8",
      timeout: 170_000,
    });
    log = `${run.stdout}${run.stderr}`;
    if (run.status !== 0) throw new Error(log);
  }, 180_000);
  afterAll(() => fs.rmSync(out, { recursive: true, force: true }));

  it("leaves eight small files and says that it was simulated", () => {
    expect(fs.readdirSync(out).sort()).toEqual([
      "agent.db.gz",
      "labels.json.gz",
      "levels.jsonl.gz",
      "levels.md",
      "manifest.json",
      "profile_export.jsonl.gz",
      "raw.tar.gz",
      "report.json.gz",
    ]);
    for (const name of fs.readdirSync(out)) expect(fs.statSync(path.join(out, name)).size).toBeLessThan(16 << 20);
    expect(log).toContain("SIMULATED");
    expect(fs.readFileSync(path.join(out, "levels.md"), "utf8")).toContain("No load ran");
    const manifest = json("manifest.json") as {
      simulated: boolean;
      server: { regimes: { name: string; failed: number }[] };
      error?: string;
    };
    expect(manifest).toMatchObject({ simulated: true, levels: { status: 0 } });
    expect(manifest).not.toHaveProperty("report_error");
    expect(manifest.server.regimes.map((r) => [r.name, r.failed])).toEqual([
      ["baseline", 0],
      ["kv_preempt", 0],
    ]);
  });

  it("has telemetry, spans and client records of the same requests, and a label for each of the tape", () => {
    const report = json("report.json.gz") as Report;
    const sources = new Map(report.data.sources.map((s) => [`${s.source}/${s.entity_kind}`, s.samples]));
    for (const source of ["nvidia-smi-query/gpu", "nvidia-smi-dmon/gpu", "server-metrics/server", "server-processes/process", "host/host"])
      expect(sources.get(source), source).toBeGreaterThan(3);
    const records = gunzipSync(fs.readFileSync(path.join(out, "profile_export.jsonl.gz")))
      .toString()
      .trim()
      .split("\n");
    // The queue is in the spans alone, the gaps between chunks in the client's records alone.
    expect(report.summary.queue_ms.n).toBe(records.length - 8);
    expect(report.summary.ttft_ms.n).toBe(records.length - 8);
    expect(report.summary.itl_ms.n).toBeGreaterThan(records.length);
    const labels = json("labels.json.gz") as { requests: Label[]; simulated: boolean };
    expect(labels.simulated).toBe(true);
    expect(labels.requests).toHaveLength(records.filter((line) => line.includes("-b-")).length);
    expect(labels.requests.filter((l) => l.request_id.startsWith("baseline-")).every((l) => l.spike === false)).toBe(true);
  });

  it("correlates again from the recorded database, and from the files alone", () => {
    const db = path.join(out, "again.db");
    fs.writeFileSync(db, gunzipSync(fs.readFileSync(path.join(out, "agent.db.gz"))));
    expect(JSON.parse(whyslow("correlate", "gpu-kit", "--json", "--db", db))).toEqual(json("report.json.gz"));
    const fresh = path.join(out, "fresh.db");
    whyslow("import", "files", path.join(out, "profile_export.jsonl.gz"), "--db", fresh);
    const report = JSON.parse(whyslow("correlate", "files", "--json", "--db", fresh)) as Report;
    expect(report.data.requests).toBe((json("report.json.gz") as Report).data.requests);
  });
});
