/** Peak figures of one GPU. Sources: vendor data sheets; NVML clock and memory readings of the models. */
export interface GpuSpec {
  /** As NVML names it. */
  readonly name: string;
  /** Dense BF16 peak. */
  readonly flops: number;
  readonly dram_bytes_per_s: number;
  readonly tdp_w: number;
  readonly idle_w: number;
  readonly sm_clock_mhz: number;
  readonly mem_clock_mhz: number;
  readonly fb_mib: number;
  /** Per direction, between two GPUs of the node; PCIe where there is no NVLink. */
  readonly link_bytes_per_s: number;
  readonly nvlinks: number;
  readonly pcie_gen: number;
}

export const GPUS = {
  h100: {
    name: "NVIDIA H100 80GB HBM3",
    flops: 989e12,
    dram_bytes_per_s: 3352e9,
    tdp_w: 700,
    idle_w: 113,
    sm_clock_mhz: 1980,
    mem_clock_mhz: 2619,
    fb_mib: 81559,
    link_bytes_per_s: 450e9,
    nvlinks: 18,
    pcie_gen: 5,
  },
  h200: {
    name: "NVIDIA H200",
    flops: 989e12,
    dram_bytes_per_s: 4800e9,
    tdp_w: 700,
    idle_w: 116,
    sm_clock_mhz: 1980,
    mem_clock_mhz: 3201,
    fb_mib: 143771,
    link_bytes_per_s: 450e9,
    nvlinks: 18,
    pcie_gen: 5,
  },
  a100: {
    name: "NVIDIA A100-SXM4-80GB",
    flops: 312e12,
    dram_bytes_per_s: 2039e9,
    tdp_w: 400,
    idle_w: 65,
    sm_clock_mhz: 1410,
    mem_clock_mhz: 1593,
    fb_mib: 81920,
    link_bytes_per_s: 300e9,
    nvlinks: 12,
    pcie_gen: 4,
  },
  l40s: {
    name: "NVIDIA L40S",
    flops: 362e12,
    dram_bytes_per_s: 864e9,
    tdp_w: 350,
    idle_w: 36,
    sm_clock_mhz: 2520,
    mem_clock_mhz: 9001,
    fb_mib: 46068,
    link_bytes_per_s: 31.5e9,
    nvlinks: 0,
    pcie_gen: 4,
  },
} as const satisfies Record<string, GpuSpec>;
export type GpuName = keyof typeof GPUS;

/** Size of one model in BF16. */
export interface ModelSpec {
  readonly params: number;
  readonly layers: number;
  readonly hidden: number;
  readonly kv_bytes_per_token: number;
}

export const MODELS = {
  "llama-3.1-8b": { params: 8.03e9, layers: 32, hidden: 4096, kv_bytes_per_token: 131072 },
  "qwen2.5-7b": { params: 7.62e9, layers: 28, hidden: 3584, kv_bytes_per_token: 57344 },
  "qwen2.5-14b": { params: 14.8e9, layers: 48, hidden: 5120, kv_bytes_per_token: 196608 },
  "qwen2.5-32b": { params: 32.8e9, layers: 64, hidden: 5120, kv_bytes_per_token: 262144 },
  "llama-3.1-70b": { params: 70.6e9, layers: 80, hidden: 8192, kv_bytes_per_token: 327680 },
} as const satisfies Record<string, ModelSpec>;
export type ModelName = keyof typeof MODELS;
