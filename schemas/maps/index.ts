import { CADVISOR_MAP } from "./cadvisor.js";
import { DCGM_MAP } from "./dcgm.js";
import { NODE_EXPORTER_MAP } from "./node-exporter.js";
import { NVIDIA_GPU_EXPORTER_MAP } from "./nvidia-gpu-exporter.js";
import { SGLANG_MAP } from "./sglang.js";
import type { SourceMap } from "./source-map.js";
import { VLLM_MAP } from "./vllm.js";

export { COMPANIONS } from "./server-map.js";
export type { Aggregate, Blank, EntityDraft, Labels, MapRule, SourceMap } from "./source-map.js";

/** Every foreign source whose names are known. A further one is one file and one line here. */
export const SOURCE_MAPS: readonly SourceMap[] = [DCGM_MAP, NVIDIA_GPU_EXPORTER_MAP, NODE_EXPORTER_MAP, CADVISOR_MAP, VLLM_MAP, SGLANG_MAP];
