import { describe, expect, it } from "vitest";
import { conditionsAt } from "../../src/sim/conditions.js";
import { DEFAULT_SERVER, type Fault, type ServerOptions } from "../../src/sim/scenario.js";
import { type StepWork, stepCost } from "../../src/sim/step-cost.js";

const IDLE: StepWork = { decodes: 0, context_tokens: 0, prefill_tokens: 0, prefill_attention: 0 };
const fault = (kind: Fault["kind"], magnitude: number, rank?: number): Fault => ({
  kind,
  magnitude,
  start_us: 0,
  end_us: 1,
  ...(rank === undefined ? {} : { rank }),
});
const cost = (work: Partial<StepWork>, server: Partial<ServerOptions> = {}, faults: Fault[] = []) => {
  const full = { ...DEFAULT_SERVER, ...server };
  return stepCost(full, conditionsAt(faults, full, 0), { ...IDLE, ...work });
};
const ms = (c: { gpu_us: number }): number => c.gpu_us / 1000;

describe("step cost: reference A, 8B on one H100", () => {
  it("takes about 6 ms for the weights, 0.049 ms a thousand tokens of context, 0.029 ms a token of prefill", () => {
    const base = ms(cost({ decodes: 1 }));
    expect(base).toBeGreaterThan(5.7);
    expect(base).toBeLessThan(6.4);
    expect(ms(cost({ decodes: 1, context_tokens: 100_000 })) - base).toBeCloseTo(4.9, 0.8);
    expect(ms(cost({ prefill_tokens: 2048 })) / 2048).toBeCloseTo(0.0295, 2.5);
  });

  it("computes 8k tokens in about 257 ms", () => {
    const u = 8192;
    const whole = ms(cost({ prefill_tokens: u, prefill_attention: (u * (u + 1)) / 2 }));
    expect(whole).toBeGreaterThan(230);
    expect(whole).toBeLessThan(290);
  });

  it("is memory-bound in decode and compute-bound in prefill, with the levels of the device", () => {
    const decode = cost({ decodes: 16, context_tokens: 25_000 });
    expect(decode.parts.bandwidth).toBeGreaterThan(0.9 * decode.gpu_us);
    expect(decode.ranks[0]!.dram).toBeGreaterThan(0.7);
    expect(decode.ranks[0]!.tensor).toBeLessThan(0.15);
    const prefill = cost({ prefill_tokens: 2048 });
    expect(prefill.parts.compute).toBeGreaterThan(0.9 * prefill.gpu_us);
    expect(prefill.ranks[0]!.tensor).toBeGreaterThan(0.45);
    expect(prefill.ranks[0]!.dram).toBeLessThan(0.2);
    expect(prefill.ranks[0]!.power_w).toBeGreaterThan(decode.ranks[0]!.power_w);
  });
});

describe("step cost: several ranks and faults", () => {
  it("moves the bytes of a ring all-reduce: 294 MB for 64 tokens of 70B over eight ranks", () => {
    const c = cost({ decodes: 64 }, { model: "llama-3.1-70b", tp: 8 });
    expect((c.ranks[0]!.link_bytes_per_s * c.gpu_us) / 1e6 / 1e6).toBeCloseTo(294, -1);
  });

  it("waits on a degraded link with busy SMs, idle tensor cores and little DRAM traffic", () => {
    const c = cost({ prefill_tokens: 2048 }, { tp: 2 }, [fault("link_degraded", 0.01)]);
    expect(c.parts.communication).toBeGreaterThan(0.8 * c.gpu_us);
    expect(c.ranks[0]!.sm).toBeGreaterThan(0.8);
    expect(c.ranks[0]!.tensor).toBeLessThan(0.1);
    expect(c.ranks[0]!.dram).toBeLessThan(0.1);
  });

  it("makes the others wait for a late or a hot rank", () => {
    const late = cost({ decodes: 16, context_tokens: 25_000 }, { tp: 4 }, [fault("straggler", 8)]);
    expect(late.parts.communication).toBeGreaterThan(8000);
    expect(late.ranks[3]!.sm).toBeLessThan(late.ranks[0]!.sm);
    const hot = cost({ prefill_tokens: 2048 }, { tp: 4 }, [fault("thermal", 0.5, 1)]);
    const cool = cost({ prefill_tokens: 2048 }, { tp: 4 });
    expect(hot.gpu_us).toBeGreaterThan(1.6 * cool.gpu_us);
    expect(hot.parts.compute).toBeGreaterThan(0.5 * hot.gpu_us);
  });

  it("takes longer for the same bytes when another tenant takes bandwidth, and DRAM stays busy", () => {
    const alone = cost({ decodes: 16, context_tokens: 25_000 });
    const shared = cost({ decodes: 16, context_tokens: 25_000 }, {}, [fault("bw_cotenant", 0.8)]);
    expect(shared.gpu_us).toBeGreaterThan(4 * alone.gpu_us);
    expect(shared.ranks[0]!.dram).toBeGreaterThan(alone.ranks[0]!.dram);
  });

  it("has one communication-free rank with one GPU", () => {
    expect(cost({ decodes: 4 }, {}, [fault("link_degraded", 0.01)]).parts.communication).toBe(0);
  });
});
