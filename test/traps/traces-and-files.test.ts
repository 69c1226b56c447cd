import fs from "node:fs";
import path from "node:path";
import zlib from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { matchServerRole } from "../../collectors/parts/server-process-roles.js";
import { defaultDecisionTable } from "../../schemas/decision-table.js";
import type { Report } from "../../schemas/index.js";
import { diagnose } from "../../src/diagnose/diagnose.js";
import { decodeOtlpJson } from "../../src/intake/decode-otlp-json.js";
import { joinId } from "../../src/intake/join-id.js";
import { createOtlpHttpReceiver } from "../../src/intake/otlp-http-receiver.js";
import { createSpanIntake } from "../../src/intake/span-intake.js";
import { openStore } from "../../src/store/open-store.js";
import { INFINIBAND_WORD_BYTES, parseInfinibandCounter } from "../../src/text/infiniband-counters.js";
import { cli } from "../cli/run-in-process.js";
import { CLEAR, type Fault, syntheticRun } from "../diagnose/synthetic-run.js";
import { MemorySink } from "../intake/memory-sink.js";
import { FIXTURES, HAS_SHARED, importInto, SHARED, temporaryFolder } from "../intake/run-import.js";

const SOURCE = { name: "otlp", node: "n", run: null, interval_ms: null, window_ms: null, lag_ms: null };
const IDS = { traceId: "5b8efff798038103d269b633813fc60c", spanId: "eee19b7ec3c1b174" };
const TIMES = { startTimeUnixNano: "1788436000000000000", endTimeUnixNano: "1788436001745000000" };

const span = (extra: Record<string, unknown> = {}, tokens: unknown = "1566"): string =>
  JSON.stringify({
    resourceSpans: [
      {
        scopeSpans: [
          {
            spans: [
              {
                ...IDS,
                ...TIMES,
                name: "llm_request",
                kind: 2,
                attributes: [
                  { key: "gen_ai.request.id", value: { stringValue: "cmpl-95322c5d4c214b019e108d96a27f8707-0" } },
                  { key: "gen_ai.usage.prompt_tokens", value: { intValue: tokens } },
                ],
                ...extra,
              },
            ],
          },
        ],
      },
    ],
  });

function taken(body: string) {
  const sink = new MemorySink();
  const rejected = createSpanIntake({ source: SOURCE, sink }).take(decodeOtlpJson(body));
  return { views: sink.views, rejected };
}

let scratch: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  scratch = temporaryFolder();
});
afterEach(() => scratch.remove());
const write = (name: string, text: string): string => {
  const at = path.join(scratch.folder, name);
  fs.writeFileSync(at, text);
  return at;
};

const main = (report: Report) => [...report.episodes].sort((a, b) => b.requests - a.requests)[0]!;

describe("traps of traces", () => {
  it("trap servers-and-traces 22: a span's id joins the response's, whatever its choice", () => {
    expect(["cmpl-X-0", "cmpl-X-1"].map((id) => joinId(id, "span"))).toEqual(["X", "X"]);
    expect(joinId("cmpl-X", "response")).toBe("X");
  });

  it("trap servers-and-traces 26: hex in either case, integers as text or number; base64 ids are refused alone", () => {
    const upper = taken(span({ traceId: IDS.traceId.toUpperCase() }));
    const lower = taken(span({}, 1566));
    expect(upper.views[0]!.span_key).toBe(lower.views[0]!.span_key);
    expect([upper.views[0]!.input_tokens, lower.views[0]!.input_tokens]).toEqual([1566, 1566]);
    expect(taken(span({ traceId: "W47/95gDgQPSabYzgT/GDA==" }))).toEqual({ views: [], rejected: { trace_id: 1 } });
  });

  it("trap servers-and-traces 27: a trace id whose upper half is zero is valid", () => {
    expect(taken(span({ traceId: "0000000000000000abcdef0123456789" })).views).toHaveLength(1);
    expect(taken(span({ traceId: "0".repeat(32) })).rejected).toEqual({ trace_id: 1 });
  });

  it("trap servers-and-traces 28: a small body that inflates without end is refused with 413", async () => {
    const sink = new MemorySink();
    const receiver = createOtlpHttpReceiver({
      host: "127.0.0.1",
      port: 0,
      sink,
      source: SOURCE,
      accepting: () => true,
      limits: { max_message_bytes: 2 ** 20 },
    });
    const { port } = await receiver.start();
    try {
      const body = zlib.gzipSync(Buffer.alloc(32 * 2 ** 20));
      const headers = { "Content-Type": "application/x-protobuf", "Content-Encoding": "gzip" };
      const answer = await fetch(`http://127.0.0.1:${port}/v1/traces`, { method: "POST", headers, body });
      expect([body.length < 2 ** 16, answer.status]).toEqual([true, 413]);
    } finally {
      await receiver.stop();
    }
  });

  it("trap servers-and-traces 29: an export that is sent again counts once", () => {
    const store = openStore(path.join(scratch.folder, "t.db"), { mode: "write" });
    try {
      const intake = createSpanIntake({ source: SOURCE, sink: store.sink });
      for (let i = 0; i < 2; i++) intake.take(decodeOtlpJson(span()));
      store.sink.flush();
      expect(store.read.requestViews({ from_us: 0, to_us: 2e15 })).toHaveLength(1);
    } finally {
      store.close();
    }
  });

  describe.skipIf(!HAS_SHARED)("the real pair (skipped only where ../shared/samples is not there)", () => {
    it("trap servers-and-traces 40: a first token that waits for another request's prefill is no tokenizing", async () => {
      const db = path.join(scratch.folder, "t.db");
      const files = ["otlp/vllm-0.11.0-v1-collector-file-prefill.jsonl", "benchmarks/guidellm-0.6.0.dev2-sweep-trimmed.json"];
      await cli(["import", "r1", ...files.map((file) => path.join(SHARED, "samples", file)), "--db", db]);
      const { out, status } = await cli(["correlate", "r1", "--json", "--db", db]);
      expect(status).toBe(0);
      const report = JSON.parse(out) as Report;
      expect(report.summary.spikes.by_class.cpu_tokenization ?? 0).toBe(0);
      expect(Math.max(0, ...report.episodes.map((e) => e.confidence ?? 0))).toBeLessThanOrEqual(0.6);
    });
  });
});

describe("traps of benchmark files", () => {
  it("trap servers-and-traces 23: start times of a monotonic clock are not of 1970: not anchored until told", async () => {
    const { outcome } = await importInto([path.join(FIXTURES, "vllm-bench/0.11/detailed.json")]);
    expect(outcome.files[0]).toMatchObject({ requests: 0, rejected: { clock_not_anchored: 3 } });
    expect(outcome.files[0]!.warnings.join()).toContain("not anchored");
  });

  it("trap servers-and-traces 24: a difference of two clocks is no time in the queue", async () => {
    const { sink, outcome } = await importInto([path.join(FIXTURES, "vllm-request-metrics/0.6/dump.jsonl")]);
    expect(outcome.files[0]!.rejected).toEqual({ clock_not_anchored: 1, mixed_clocks: 1 });
    expect(sink.views.map((v) => v.queue_ms)).toEqual([1000]);
  });

  it("trap servers-and-traces 25: a key with a colon, a rate that is text, metadata as strings", async () => {
    const file = write(
      "r.json",
      '{"date":"20250530-203806","backend":"vllm","model_id":"m","input_len":"1000","request_rate":"inf","completed":300,"request_goodput:":null,"max_concurrency":null}',
    );
    const { sink, outcome } = await importInto([file]);
    expect(outcome.files[0]).toMatchObject({ format: "vllm-bench", rejected: { aggregate: 1 } });
    expect(sink.facts).toEqual({ model: "m", request_rate: "inf" });
  });

  it("trap servers-and-traces 30: MLPerf's test_datetime is local whatever its Z says; power_begin is UTC", async () => {
    const { sink } = await importInto([path.join(FIXTURES, "mlperf-loadgen/5.1/mlperf_log_detail.txt")]);
    expect(new Date(sink.markRows[0]!.ts_us / 1000).toISOString()).toBe("2026-09-03T09:07:00.770Z");
  });

  it("trap servers-and-traces 31: a load generator that cannot keep up is named, and no server for it", async () => {
    const { sink, outcome } = await importInto([path.join(FIXTURES, "inference-perf/0.2/stage_0_lifecycle_metrics.json")]);
    expect(sink.facts.client_limited).toMatch(/schedule delay p50 5\.0 s, achieved 11\.3 of 20\.0/);
    expect([sink.views, outcome.files[0]!.warnings.join()]).toEqual([[], expect.stringContaining("say nothing about the server")]);
  });

  it("trap servers-and-traces 37: the time per token comes from the gaps, as one version's own figure contains the first token", async () => {
    const { sink } = await importInto([path.join(FIXTURES, "guidellm/0.6/report.json")]);
    const view = sink.views[0]!;
    const perToken = view.decode_ms! / (view.output_tokens! - 1);
    expect(perToken).toBeLessThan((view.e2e_ms! - view.ttft_ms!) / (view.output_tokens! - 1) + 0.01);
    expect(perToken).toBeCloseTo(26.02, 1);
  });
});

describe("traps of hosts and links", () => {
  it("trap servers-and-traces 33: a saturated or unreadable counter is unknown; words are four bytes", () => {
    expect(["4294967295", "N/A (no PMA)", "77\n"].map(parseInfinibandCounter)).toEqual([null, null, 77]);
    expect(INFINIBAND_WORD_BYTES).toBe(4);
  });

  /** The server's process of a run, with one thread of the front end at the given load in and outside of the fault. */
  function withThread(options: { role: string; inside: number; outside: number; fault: Fault }) {
    const run = syntheticRun({ faults: [options.fault] });
    const [first] = run.telemetry.tracks;
    const start = first!.ts_us[0]! - 1e6;
    const load = first!.ts_us.map((ts) => {
      const second = (ts - start) / 1e6;
      return second >= options.fault.from && second <= options.fault.to + 1 ? options.inside : options.outside;
    });
    const labels = { role: options.role, pod: "llm-0", server: "vllm:llm-0/0" };
    const track = {
      ...first!,
      source: { ...first!.source, name: "server-processes" },
      entity: { kind: "process" as const, node: "", key: "proc:1:1", labels },
      columns: { hottest_thread_cores: load },
    };
    return { ...run, telemetry: { ...run.telemetry, tracks: [...run.telemetry.tracks, track] } };
  }

  it("trap servers-and-traces 34: no throttling does not clear the CPU: one pegged thread of the front end is enough", () => {
    const clear = CLEAR.cpu_tokenization!.faults![0]!;
    const { cfs_throttled_periods_total: _none, psi_cpu_some_s_total: _calm, ...levels } = clear.levels!;
    const report = diagnose(
      withThread({ role: "api_server", inside: 0.99, outside: 0.3, fault: { ...clear, levels } }),
      defaultDecisionTable(),
    );
    expect(main(report).class).toBe("cpu_tokenization");
  });

  it("trap servers-and-traces 35: a scheduler that always polls is no busy CPU", () => {
    expect(matchServerRole(["sglang::scheduler_DP0_TP0"])).toMatchObject({ role: "scheduler" });
    const fault: Fault = { from: 60, to: 80, ttft_ms: 800, waits: "outside" };
    const report = diagnose(withThread({ role: "scheduler", inside: 1, outside: 1, fault }), defaultDecisionTable());
    expect(main(report).class).not.toBe("cpu_tokenization");
  });
});
