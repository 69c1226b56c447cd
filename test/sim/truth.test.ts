import { describe, expect, it } from "vitest";
import { InferenceNode } from "../../src/sim/inference-node.js";
import { DEFAULT_SERVER, DEFAULT_WORKLOAD, FAULTS, type Fault, type Scenario } from "../../src/sim/scenario.js";
import { judge, undisturbedRun } from "../../src/sim/truth.js";

const END_US = 28e6;
function truthOf(faults: readonly Fault[]) {
  const scenario: Scenario = {
    seed: 9,
    server: { ...DEFAULT_SERVER, tp: 2, kv_tokens: 60_000 },
    workload: { ...DEFAULT_WORKLOAD, rate_per_s: 8, prompt_median: 600, output_median: 130 },
    faults,
  };
  const node = new InferenceNode(scenario);
  node.advance(END_US + 120e6, END_US);
  return { node, truth: judge(node, undisturbedRun(scenario, END_US)) };
}
const at = (kind: Fault["kind"], magnitude: number, extra: Partial<Fault> = {}): Fault => ({
  kind,
  magnitude,
  start_us: 10e6,
  end_us: 15e6,
  ...extra,
});

describe("truth by counterfactual", () => {
  it("finds no excess at all without a fault", () => {
    const { truth } = truthOf([]);
    expect(truth.length).toBeGreaterThan(150);
    expect(truth.every((t) => t.ttft_excess_ms === 0 && t.e2e_excess_ms === 0 && t.spike !== true && t.fault === null)).toBe(true);
  });

  it.each([
    at("long_prompts", 14_000, { rate_per_s: 3.4 }),
    at("thermal", 0.25),
    at("bw_cotenant", 0.85),
    at("kv_full", 0.97),
    at("cpu_tokenize", 100),
    at("cpu_throttle", 0.12),
    at("link_degraded", 0.01),
    at("straggler", 25),
  ])("books the excess of $kind on its own resource", (fault) => {
    const { truth, node } = truthOf([fault]);
    const slow = truth.filter((t) => t.spike === true);
    expect(slow.length).toBeGreaterThan(15);
    const named = slow.flatMap((t) => [t.ttft, t.e2e]).filter((c) => c !== null);
    const own = named.filter((c) => c.length === 1 && c[0] === FAULTS[fault.kind].class);
    expect(own.length / named.length).toBeGreaterThan(0.6);
    expect(named.every((c) => c.includes(FAULTS[fault.kind].class))).toBe(true);
    expect(slow.every((t) => t.fault === 0)).toBe(true);
    const first = Math.min(...slow.map((t) => node.requests.find((r) => r.id === t.request_id)!.end_us));
    expect(first).toBeGreaterThan(fault.start_us);
  });

  it("does not judge the requests that a fault sends itself", () => {
    const { truth, node } = truthOf([at("arrival_burst", 5)]);
    const injected = new Set(node.requests.filter((r) => r.injected).map((r) => r.id));
    expect(injected.size).toBeGreaterThan(50);
    expect(truth.some((t) => injected.has(t.request_id))).toBe(false);
  });
});
