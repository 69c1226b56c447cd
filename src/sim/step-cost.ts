import type { ResourceClass } from "../../schemas/report.js";
import type { Conditions } from "./conditions.js";
import { GPUS, MODELS } from "./hardware.js";
import type { ServerOptions } from "./scenario.js";

/** What one engine step computes. */
export interface StepWork {
  /** Sequences that decode one token each. */
  readonly decodes: number;
  /** Tokens of context that those read. */
  readonly context_tokens: number;
  readonly prefill_tokens: number;
  /** Sum of the contexts of all prefill tokens: u*c + u(u+1)/2. */
  readonly prefill_attention: number;
}

/** Levels of one GPU over a step's GPU part. */
export interface RankLevels {
  readonly sm: number;
  readonly tensor: number;
  readonly dram: number;
  readonly power_w: number;
  readonly link_bytes_per_s: number;
}

export interface StepCost {
  /** CPU work before the kernels run. */
  readonly launch_us: number;
  readonly gpu_us: number;
  /** The critical path by resource; sums to gpu_us. */
  readonly parts: Readonly<Record<ResourceClass, number>>;
  readonly ranks: readonly RankLevels[];
}

/** Reachable shares of the peaks. */
const MFU = 0.55;
const DRAM_PEAK = 0.8;
const LINK_PEAK = 0.8;
/** 400 Gb/s and what an all-reduce over it costs at least. */
const FABRIC_BYTES_PER_S = 50e9;
const FABRIC_US = 30;
const SM = { bandwidth: 0.76, compute: 0.92, wait: 0.87 };
const POWER = { bandwidth: 0.52, compute: 0.8, wait: 0.38 };

/** A training job beside. */
export const TENANT = { sm: 0.98, tensor: 0.55, dram: 0.45, power: 0.97 };

/** Memory-bound kernels feel the clock only once it no longer feeds the memory system. */
function memoryClock(clock: number): number {
  const feels = Math.min(1, Math.max(0.3, 0.3 + ((0.6 - clock) / 0.15) * 0.7));
  return 1 - feels * (1 - clock);
}

/** Roofline of one step: linear layers by the slower of weights and FLOPs, attention on top, two all-reduces a layer for TP. */
export function stepCost(server: ServerOptions, now: Conditions, work: StepWork): StepCost {
  const gpu = GPUS[server.gpu];
  const model = MODELS[server.model];
  const tokens = work.decodes + work.prefill_tokens;
  const flops = (2 * model.params * tokens + 4 * model.layers * model.hidden * work.prefill_attention) / server.tp;
  const linear_flops = (2 * model.params * tokens) / server.tp;
  const weight_bytes = (2 * model.params) / server.tp;
  const kv_bytes = (work.context_tokens * model.kv_bytes_per_token) / server.tp;
  const dram = gpu.dram_bytes_per_s * DRAM_PEAK * (1 - now.stolen_dram);

  const local = now.clock.map((clock, rank) => {
    const weights_us = (weight_bytes / (dram * memoryClock(clock))) * 1e6;
    const linear_us = (linear_flops / (gpu.flops * MFU * clock)) * 1e6;
    const attention_us = ((flops - linear_flops) / (gpu.flops * MFU * clock)) * 1e6;
    const bound = weights_us > linear_us;
    const bandwidth_us = (bound ? weights_us : 0) + (kv_bytes / (dram * memoryClock(clock))) * 1e6;
    const compute_us = (bound ? 0 : linear_us) + attention_us + (10 * work.decodes) / clock;
    const shared = now.gpu_share;
    return { bandwidth_us: bandwidth_us / shared, compute_us: compute_us / shared + now.extra_us[rank]!, fed: memoryClock(clock) };
  });
  const reduced = server.tp > 1 ? ((2 * (server.tp - 1)) / server.tp) * 2 * model.layers * tokens * model.hidden * 2 : 0;
  const pcie = now.pcie_bytes_per_s;
  const latency_us = server.tp > 1 ? 2 * model.layers * (server.fabric ? FABRIC_US : gpu.nvlinks > 0 && pcie === null ? 12 : 25) : 0;
  const link_peak = pcie ?? (server.fabric ? FABRIC_BYTES_PER_S : gpu.link_bytes_per_s) * LINK_PEAK * now.link_share;
  const link_us = latency_us + (reduced / link_peak) * 1e6;

  const busy = local.map((l, rank) => l.bandwidth_us + l.compute_us + now.late_us[rank]!);
  const critical = busy.indexOf(Math.max(...busy));
  const gpu_us = busy[critical]! + link_us;
  const slowest = local[critical]!;
  const extra_us = now.extra_us[critical]!;
  // What a low clock adds to memory-bound kernels is the clock's doing, not the memory's.
  const parts = {
    compute: slowest.compute_us - extra_us + slowest.bandwidth_us * (1 - slowest.fed),
    bandwidth: slowest.bandwidth_us * slowest.fed,
    kv_cache: 0,
    cpu_tokenization: 0,
    communication: link_us + now.late_us[critical]! + extra_us,
  };
  const ranks = local.map((l, rank): RankLevels => {
    const clock = now.clock[rank]!;
    const late_us = now.late_us[rank]!;
    const wait_us = gpu_us - l.bandwidth_us - l.compute_us - late_us;
    const stolen = now.stolen_dram * DRAM_PEAK;
    const saturated = now.stolen_dram > 0 ? 0.86 : DRAM_PEAK;
    const other = 1 - now.gpu_share;
    const own = saturated * l.fed * l.bandwidth_us + (stolen + 0.06) * l.compute_us + (stolen + 0.03) * wait_us + stolen * late_us;
    const heat = 0.35 + 0.65 * clock;
    const watts =
      POWER.bandwidth * l.bandwidth_us + POWER.compute * heat * l.compute_us + POWER.wait * wait_us + (gpu.idle_w / gpu.tdp_w) * late_us;
    return {
      sm: ((SM.bandwidth * l.bandwidth_us + SM.compute * l.compute_us + SM.wait * wait_us) / gpu_us) * now.gpu_share + TENANT.sm * other,
      tensor: Math.min(1, (flops / (gpu.flops * clock)) * (1e6 / gpu_us) + (0.02 * l.bandwidth_us) / gpu_us + TENANT.tensor * other),
      dram: (own / gpu_us) * now.gpu_share + TENANT.dram * other,
      power_w: ((watts / gpu_us) * now.gpu_share + TENANT.power * other + now.stolen_dram * 0.1) * gpu.tdp_w,
      link_bytes_per_s: reduced / (gpu_us / 1e6),
    };
  });
  return { launch_us: (350 + 4 * work.decodes) * now.launch_factor, gpu_us, parts, ranks };
}
