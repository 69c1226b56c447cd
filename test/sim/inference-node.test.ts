import { describe, expect, it } from "vitest";
import { InferenceNode } from "../../src/sim/inference-node.js";
import { DEFAULT_SERVER, DEFAULT_WORKLOAD, FAULTS, type Fault, type FaultKind, type Scenario } from "../../src/sim/scenario.js";

const MAGNITUDE: Readonly<Record<FaultKind, number>> = {
  arrival_burst: 4,
  long_prompts: 12_000,
  thermal: 0.4,
  bw_cotenant: 0.8,
  context_growth: 8,
  kv_full: 0.95,
  cpu_tokenize: 80,
  cpu_throttle: 0.15,
  link_degraded: 0.02,
  straggler: 12,
  power_cap: 0.5,
  gpu_cotenant: 0.5,
  batch_growth: 60,
  kv_sessions: 6,
  long_outputs: 2,
  prefix_thrash: 0.2,
  agent_burst: 4,
  launch: 20,
  topology_fallback: 0.8,
  fabric_congestion: 0.05,
  pd_transfer: 0.05,
  hot_expert: 12,
  remote_prefill: 12_000,
  admission_limit: 4,
  pause: 1,
  restart: 1,
  warm_up: 60,
  client_network: 0.5,
};
const KINDS = Object.keys(FAULTS) as FaultKind[];
const scenario = (kinds: readonly FaultKind[], seed = 3, extra: Partial<Scenario["server"]> = {}): Scenario => ({
  seed,
  server: { ...DEFAULT_SERVER, tp: 2, kv_tokens: 80_000, ...extra },
  workload: DEFAULT_WORKLOAD,
  faults: kinds.map((kind, i): Fault => ({ kind, start_us: (5 + 6 * i) * 1e6, end_us: (8 + 6 * i) * 1e6, magnitude: MAGNITUDE[kind] })),
});
const END_US = 24e6;
const timeline = (node: InferenceNode): unknown[] => node.requests.map((r) => [r.id, r.tokenized_us, r.scheduled_us, r.emit_us, r.end_us]);

describe("InferenceNode", () => {
  it.each([[[]], ...KINDS.map((kind) => [[kind]])])("conserves tokens and blocks, and answers everybody, with %j", (kinds) => {
    const node = new InferenceNode(scenario(kinds as FaultKind[]));
    const { kv, running, waiting } = node.scheduler;
    for (let t = 0; t <= END_US; t += 0.25e6) {
      node.advance(t, END_US);
      expect(kv.used).toBeGreaterThanOrEqual(0);
      expect(kv.free).toBeGreaterThanOrEqual(0);
      expect(kv.usage).toBeLessThanOrEqual(1);
      expect(running.length).toBeLessThanOrEqual(DEFAULT_SERVER.max_num_seqs);
      expect(kv.used).toBe([...running, ...waiting].reduce((sum, r) => sum + r.blocks, 0));
    }
    node.advance(END_US + 200e6, END_US);
    expect(node.requests.length).toBeGreaterThan(100);
    for (const r of node.requests) {
      expect(r.emit_us).toHaveLength(r.output_tokens);
      expect(r.tokenized_us).toBeGreaterThan(r.at_us);
      expect(r.queued_us).toBeGreaterThanOrEqual(r.tokenized_us);
      expect(r.scheduled_us).toBeGreaterThanOrEqual(r.queued_us);
      expect(r.first_engine_us).toBeGreaterThan(r.scheduled_us);
      expect(r.end_us).toBeGreaterThanOrEqual(r.last_engine_us);
      expect(r.emit_us.every((at, i) => i === 0 || at >= r.emit_us[i - 1]!)).toBe(true);
    }
    const sum = (pick: (r: (typeof node.requests)[number]) => number): number => node.requests.reduce((n, r) => n + pick(r), 0);
    expect(node.counters.generation_tokens).toBe(sum((r) => r.output_tokens));
    expect(node.counters.prompt_tokens).toBe(sum((r) => r.prompt_tokens));
    expect(node.counters.success).toBe(node.requests.length);
    expect(kv.used).toBe(0);
  });

  it("books every microsecond of a request on something", () => {
    const node = new InferenceNode(scenario(["kv_full", "cpu_tokenize", "thermal"]));
    node.advance(END_US + 200e6, END_US);
    for (const r of node.requests) {
      const total = Object.values(r.waits).reduce((a, b) => a + b, 0);
      expect(Math.abs(total - (r.end_us - r.at_us))).toBeLessThan(0.02 * (r.end_us - r.at_us) + 25_000);
    }
  });

  it("repeats by seed, whatever the steps in which time moves", () => {
    const once = new InferenceNode(scenario(["kv_full", "arrival_burst"]));
    once.advance(END_US, END_US);
    const often = new InferenceNode(scenario(["kv_full", "arrival_burst"]));
    for (let t = 0; t <= END_US; t += 13_337) often.advance(t, END_US);
    often.advance(END_US, END_US);
    expect(timeline(often)).toEqual(timeline(once));
    const other = new InferenceNode(scenario(["kv_full", "arrival_burst"], 4));
    other.advance(END_US, END_US);
    expect(timeline(other)).not.toEqual(timeline(once));
  });

  it("keeps the workload's arrivals, whatever the faults", () => {
    const calm = new InferenceNode(scenario([]));
    const bad = new InferenceNode(scenario(KINDS.slice(0, 3)));
    for (const node of [calm, bad]) node.advance(END_US, END_US);
    const own = (node: InferenceNode): unknown[] =>
      node.requests.filter((r) => !r.injected).map((r) => [r.id, r.at_us, r.prompt_tokens, r.output_tokens]);
    expect(own(bad)).toEqual(own(calm));
    expect(bad.requests.some((r) => r.injected)).toBe(true);
  });

  it("preempts the youngest and computes it anew when the pool runs dry", () => {
    const node = new InferenceNode({ ...scenario([], 3, { kv_tokens: 6000 }), workload: { ...DEFAULT_WORKLOAD, output_median: 400 } });
    node.advance(END_US, END_US);
    expect(node.scheduler.preemptions).toBeGreaterThan(3);
    node.advance(END_US + 600e6, END_US);
    expect(node.requests.filter((r) => r.emit_us.length !== r.output_tokens && node.counters.refused === 0)).toEqual([]);
  });

  it("refuses what can never fit instead of blocking the queue for ever", () => {
    const node = new InferenceNode({ ...scenario([], 3, { kv_tokens: 1600 }), workload: { ...DEFAULT_WORKLOAD, rate_per_s: 1 } });
    node.advance(END_US + 300e6, END_US);
    expect(node.counters.refused).toBeGreaterThan(0);
    expect(node.counters.refused + node.counters.success).toBe(node.requests.length);
  });

  it("stalls all decodes behind a whole prompt when prefill is not chunked", () => {
    const longest = (chunked_prefill: boolean): number => {
      const node = new InferenceNode(scenario(["long_prompts"], 3, { chunked_prefill, kv_tokens: null, tp: 1 }));
      node.advance(12e6, 12e6);
      return Math.max(...node.requests.flatMap((r) => r.emit_us.slice(1).map((at, i) => at - r.emit_us[i]!)));
    };
    expect(longest(false)).toBeGreaterThan(2.5 * longest(true));
  });
});
