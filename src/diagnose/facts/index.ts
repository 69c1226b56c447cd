import type { Fact } from "../episode-context.js";
import { remotePrefill } from "./engine-facts.js";
import { allStopped, clientSide, restart, sharedGpu } from "./event-facts.js";
import { cgroupThrottle, cpuGrowth, cpuPegged, cpuSteal, ioPressure, psi, runWait } from "./host-facts.js";
import { congestion, linkDowngraded, linkHigh, rankImbalance } from "./link-facts.js";
import { busyUnproductive, dramHigh, gpuIdleGrowth, smIdle, tensorHigh } from "./pipe-facts.js";
import { powerCap, powerHigh, throttle, throttledRank } from "./power-facts.js";
import {
  admissionLimit,
  hitDrop,
  kvFull,
  kvHeadBlocked,
  preempt,
  preemptWait,
  slowFrontEnd,
  waitKvFull,
  waitKvLow,
} from "./server-facts.js";
import { decodeSaturated, memoryUtilHigh, smiIdle, smiPrefill, smiSpin } from "./smi-facts.js";
import { catchUp, stallSync, victimsOnly } from "./stall-facts.js";
import { arrivalSurge, batchSurge, prefillDose, prefillSurge, transferWait } from "./trace-facts.js";

/** The code of every fact that a decision table may weigh, by name. Adding one costs its function, its line here and its row in the table. */
export const FACTS: Readonly<Record<string, Fact>> = {
  tensor_hi: tensorHigh,
  dram_hi: dramHigh,
  sm_idle: smIdle,
  gpu_idle_growth: gpuIdleGrowth,
  busy_unproductive: busyUnproductive,
  power_hi: powerHigh,
  throttle,
  power_cap: powerCap,
  throttled_rank: throttledRank,
  prefill_surge: prefillSurge,
  arrival_surge: arrivalSurge,
  batch_surge: batchSurge,
  prefill_dose: prefillDose,
  remote_prefill: remotePrefill,
  stall_sync: stallSync,
  victims_only: victimsOnly,
  catch_up: catchUp,
  kv_full: kvFull,
  preempt,
  preempt_wait: preemptWait,
  wait_kvfull: waitKvFull,
  wait_kvlow: waitKvLow,
  kv_head_blocked: kvHeadBlocked,
  hit_drop: hitDrop,
  cpu_pegged: cpuPegged,
  cpu_growth: cpuGrowth,
  cg_throttle: cgroupThrottle,
  psi,
  cpu_steal: cpuSteal,
  run_wait: runWait,
  slow_front_end: slowFrontEnd,
  link_hi: linkHigh,
  link_downgraded: linkDowngraded,
  rank_imbalance: rankImbalance,
  congestion,
  transfer_wait: transferWait,
  smi_prefill: smiPrefill,
  smi_spin: smiSpin,
  memutil_hi: memoryUtilHigh,
  decode_saturated: decodeSaturated,
  smi_idle: smiIdle,
  admission_limit: admissionLimit,
  client_side: clientSide,
  restart,
  all_stopped: allStopped,
  io_pressure: ioPressure,
  shared_gpu: sharedGpu,
};
