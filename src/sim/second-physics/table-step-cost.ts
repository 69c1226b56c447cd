import type { Conditions } from "../conditions.js";
import { GPUS, MODELS } from "../hardware.js";
import type { ServerOptions } from "../scenario.js";
import type { RankLevels, StepCost, StepWork } from "../step-cost.js";
import {
  ATTENTION_MS,
  CONTEXT_K,
  DECODE_MS,
  GPU_FACTOR,
  graphBatch,
  interpolate,
  MODEL_FACTOR,
  PREFILL_MS,
  PREFILL_TOKENS,
  TP_EFFICIENCY,
} from "./step-table.js";

/** Levels of a GPU by what its kernels do: shares, and of the power limit. */
const LEVELS = {
  decode: { sm: 0.66, tensor: 0.07, dram: 0.63, power: 0.41 },
  prefill: { sm: 0.96, tensor: 0.43, dram: 0.24, power: 0.88 },
  wait: { sm: 0.72, tensor: 0.005, dram: 0.025, power: 0.29 },
  tenant: { sm: 0.94, tensor: 0.38, dram: 0.52, power: 0.9 },
} as const;
const NVLINK_US = 17;
const PCIE_US = 34;
const FABRIC_US = 42;
const LINK_REACH = 0.62;
const FABRIC_BYTES_PER_S = 50e9;

/** How much longer kernels take at a share of the clock: prompts directly, decoding hardly until the memory system starves. */
const promptSlow = (clock: number): number => 0.06 + 0.94 / clock;
const decodeSlow = (clock: number): number => (clock >= 0.55 ? 0.88 + 0.12 / clock : (0.88 + 0.12 / 0.55) * (0.55 / clock) ** 0.9);

/** One step by interpolation in the table. */
export function tableStepCost(server: ServerOptions, now: Conditions, work: StepWork): StepCost {
  const gpu = GPUS[server.gpu];
  const factor = { gpu: GPU_FACTOR[server.gpu], model: MODEL_FACTOR[server.model] };
  const ranks = server.tp === 1 ? 1 : server.tp * TP_EFFICIENCY;
  const row = DECODE_MS[graphBatch(Math.max(1, work.decodes))]!;
  const bare = interpolate(CONTEXT_K, row, 0);
  const context = interpolate(CONTEXT_K, row, (work.context_tokens * factor.model.context) / 1000) - bare;
  const decode_us = ((bare * factor.model.decode + context) * factor.gpu.decode * 1000) / ranks;
  const prompt_ms = interpolate(PREFILL_TOKENS, PREFILL_MS, work.prefill_tokens) + (ATTENTION_MS * work.prefill_attention) / 1e6;
  const prefill_us = (prompt_ms * factor.model.prefill * factor.gpu.prefill * 1000) / ranks;

  const model = MODELS[server.model];
  const tokens = work.decodes + work.prefill_tokens;
  const moved = server.tp > 1 ? ((2 * (server.tp - 1)) / server.tp) * 2 * model.layers * tokens * model.hidden * 2 : 0;
  const pcie = now.pcie_bytes_per_s;
  const speed = pcie ?? (server.fabric ? FABRIC_BYTES_PER_S : gpu.link_bytes_per_s) * LINK_REACH * now.link_share;
  const each_us = server.fabric ? FABRIC_US : gpu.nvlinks > 0 && pcie === null ? NVLINK_US : PCIE_US;
  const link_us = server.tp > 1 ? 2 * model.layers * each_us + (moved / speed) * 1e6 : 0;

  const dram_left = 1 - 0.93 * now.stolen_dram;
  const local = now.clock.map((clock, rank) => {
    const starved_us = (decode_us * (decodeSlow(clock) - 1)) / dram_left;
    const bandwidth_us = decode_us / dram_left;
    const compute_us = prefill_us * promptSlow(clock) * (1 + 0.25 * now.stolen_dram);
    const scale = 1 / now.gpu_share;
    return {
      bandwidth_us: bandwidth_us * scale,
      compute_us: (compute_us + starved_us) * scale,
      busy_us: (bandwidth_us + compute_us + starved_us) * scale + now.extra_us[rank]! + now.late_us[rank]!,
    };
  });
  const critical = local.reduce((best, l, i) => (l.busy_us > local[best]!.busy_us ? i : best), 0);
  const slowest = local[critical]!;
  const gpu_us = slowest.busy_us + link_us;
  return {
    launch_us: (500 + 6 * work.decodes) * now.launch_factor,
    gpu_us,
    parts: {
      compute: slowest.compute_us,
      bandwidth: slowest.bandwidth_us,
      kv_cache: 0,
      cpu_tokenization: 0,
      communication: link_us + now.late_us[critical]! + now.extra_us[critical]!,
    },
    ranks: local.map((l, rank) => levels(l, gpu_us, moved, gpu, now, rank)),
  };
}

function levels(
  local: { readonly bandwidth_us: number; readonly compute_us: number },
  gpu_us: number,
  moved: number,
  gpu: { readonly tdp_w: number; readonly idle_w: number },
  now: Conditions,
  rank: number,
): RankLevels {
  const idle_us = now.late_us[rank]!;
  const compute_us = local.compute_us + now.extra_us[rank]!;
  const wait_us = Math.max(0, gpu_us - local.bandwidth_us - compute_us - idle_us);
  const mix = (pick: (l: { sm: number; tensor: number; dram: number; power: number }) => number): number => {
    const own = pick(LEVELS.decode) * local.bandwidth_us + pick(LEVELS.prefill) * compute_us + pick(LEVELS.wait) * wait_us;
    return (own / gpu_us) * now.gpu_share + pick(LEVELS.tenant) * (1 - now.gpu_share);
  };
  const clock = now.clock[rank]!;
  const stolen = now.stolen_dram;
  return {
    sm: mix((l) => l.sm),
    tensor: mix((l) => l.tensor),
    dram: Math.min(0.93, mix((l) => l.dram) * (1 - 0.7 * stolen) + 0.88 * stolen),
    power_w: gpu.tdp_w * Math.min(1, (mix((l) => l.power) + 0.12 * stolen) * (0.4 + 0.6 * clock)) + (gpu.idle_w * idle_us) / gpu_us,
    link_bytes_per_s: moved / (gpu_us / 1e6),
  };
}
