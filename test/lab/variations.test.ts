import { describe, expect, it } from "vitest";
import { aiperfRecord as aiperfLine, exportRequest, llmRequestSpan } from "../../lab/request-records.js";
import { drawVariation, FAULTY } from "../../lab/variations/draw-variation.js";
import { clientView, serverView } from "../../lab/variations/request-views.js";
import { simulateWatched } from "../../lab/variations/simulate-variation.js";
import { TIER_NAMES, TIERS } from "../../lab/variations/variation.js";
import { decodeOtlpJson } from "../../src/intake/decode-otlp-json.js";
import { asObject, parseJsonExact } from "../../src/intake/exact-json.js";
import { aiperfRecord } from "../../src/intake/importers/aiperf-record.js";
import { spanToRequest } from "../../src/intake/span-to-request.js";
import { InferenceNode } from "../../src/sim/inference-node.js";
import { DEFAULT_SERVER, DEFAULT_WORKLOAD } from "../../src/sim/scenario.js";

const EPOCH_US = 1_790_000_000e6;

describe("views in memory", () => {
  const node = new InferenceNode({ seed: 3, server: DEFAULT_SERVER, workload: DEFAULT_WORKLOAD, faults: [] });
  node.advance(30e6, 5e6);
  const request = node.requests[4]!;

  it("of a client are what the importer reads from AIPerf's record", () => {
    const read = aiperfRecord(asObject(parseJsonExact(aiperfLine(request, EPOCH_US, 0)))!);
    expect({ ...clientView(request, EPOCH_US, []), route: "worker_0" }).toEqual(read);
  });

  it("of a server are what is read from its span", () => {
    const [span] = decodeOtlpJson(JSON.stringify(exportRequest([llmRequestSpan(request, EPOCH_US)]))).spans;
    const verdict = spanToRequest(span!);
    const view = verdict.kind === "request" ? verdict.view : null;
    const own = serverView(request, EPOCH_US, "llm-0");
    for (const key of ["request_id", "join_id", "start_us", "first_token_us", "end_us", "input_tokens", "output_tokens"] as const)
      expect(own[key]).toBe(view?.[key]);
    for (const key of ["ttft_ms", "e2e_ms", "queue_ms", "prefill_ms", "decode_ms"] as const) expect(own[key]).toBeCloseTo(view![key]!, 6);
    expect(own.server).toEqual(view?.server);
  });

  it("of a stalled route hand over at the end of the stall, and only some routes stall", () => {
    const from = node.requests[0]!.at_us;
    const stall = { kind: "client_network", start_us: from, end_us: from + 8e6, magnitude: 0.5 } as const;
    const late = node.requests.map((r) => clientView(r, EPOCH_US, [stall]).first_token_us! - clientView(r, EPOCH_US, []).first_token_us!);
    expect(late.some((us) => us > 1e6)).toBe(true);
    expect(late.some((us) => us === 0)).toBe(true);
  });
});

describe("random variations", () => {
  it("repeat by seed, and differ between seeds", () => {
    expect(drawVariation(7)).toEqual(drawVariation(7));
    expect(drawVariation(8)).not.toEqual(drawVariation(7));
  });

  it("reach every fault, tier, engine and form, and stay in the bounds that they state", () => {
    const all = Array.from({ length: 600 }, (_, i) => drawVariation(i));
    expect(new Set(all.map((v) => v.family))).toEqual(new Set([...FAULTY, "none"]));
    expect(new Set(all.map((v) => v.watch.engine)).size).toBe(3);
    expect(new Set(all.map((v) => v.watch.form)).size).toBe(3);
    const inputs = all.map((v) => JSON.stringify(v.watch.inputs));
    for (const tier of TIER_NAMES) expect(inputs).toContain(JSON.stringify(TIERS[tier]));
    for (const { seconds, watch, replicas, scenario } of all) {
      expect(seconds >= 60 && seconds <= 600).toBe(true);
      expect(watch.interval_s >= 0.1 && watch.interval_s <= 30).toBe(true);
      expect(watch.lag_s >= 0 && watch.lag_s <= 3 && Math.abs(watch.client_offset_s) <= 2 && watch.loss >= 0 && watch.loss <= 0.2).toBe(
        true,
      );
      expect(replicas >= 1 && replicas <= 3).toBe(true);
      for (const f of scenario.faults) {
        expect(Number.isFinite(f.magnitude) && f.magnitude >= 0).toBe(true);
        expect(f.start_us > 0 && f.end_us > f.start_us && f.start_us < seconds * 1e6).toBe(true);
      }
    }
  });

  it("are watched as they say: sources, losses, stamps, a short record", () => {
    const drawn = drawVariation(21, { family: "thermal", tier: "full", clear: true });
    const faults = drawn.scenario.faults.map((f) => ({ ...f, start_us: 25e6, end_us: 45e6 }));
    const v = {
      ...drawn,
      scenario: { ...drawn.scenario, faults },
      seconds: 60,
      replicas: 1,
      watch: { ...drawn.watch, form: "aiperf" as const },
    };
    const [best, smi, bare, lossy, late, short] = simulateWatched(v, [
      v.watch,
      { ...v.watch, inputs: TIERS.smi, engine: "sglang" },
      { ...v.watch, inputs: { gpu: "none", server: false, host: true, links: false } },
      { ...v.watch, loss: 0.5 },
      { ...v.watch, lag_s: 2 },
      { ...v.watch, requests: 30 },
    ]);
    const gpu = (run: typeof best) => run!.telemetry.tracks.find((t) => t.entity.kind === "gpu");
    expect(gpu(best)?.source.name).toBe("dcgm-exporter");
    expect(Object.keys(gpu(best)!.columns)).toEqual(expect.arrayContaining(["sm_active_ratio", "dram_active_ratio", "clocks_event_mask"]));
    expect(gpu(smi)?.source.name).toBe("nvidia_gpu_exporter");
    expect(Object.keys(gpu(smi)!.columns)).not.toContain("dram_active_ratio");
    expect(smi!.telemetry.tracks.some((t) => t.source.name === "sglang")).toBe(true);
    expect(new Set(bare!.telemetry.tracks.map((t) => t.entity.kind))).toEqual(new Set(["host", "process", "link"]));
    const n = gpu(best)!.ts_us.length;
    expect(gpu(lossy)!.ts_us.length).toBeLessThan(0.75 * n);
    expect(gpu(late)!.ts_us[5]! - gpu(best)!.ts_us[5]!).toBe(2e6);
    expect(short!.views).toHaveLength(30);
    expect(short!.truth.length).toBeLessThanOrEqual(30);
    expect(best!.truth.some((t) => t.spike === true)).toBe(true);
  });
});
