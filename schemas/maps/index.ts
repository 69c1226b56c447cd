import { CADVISOR_MAP } from "./cadvisor.js";
import { DCGM_MAP } from "./dcgm.js";
import { DYNAMO_MAP } from "./dynamo.js";
import { LITELLM_MAP } from "./litellm.js";
import { LLAMACPP_MAP } from "./llamacpp.js";
import { LMDEPLOY_MAP } from "./lmdeploy.js";
import { NODE_EXPORTER_MAP } from "./node-exporter.js";
import { NVIDIA_GPU_EXPORTER_MAP } from "./nvidia-gpu-exporter.js";
import { SGLANG_MAP } from "./sglang.js";
import type { SourceMap } from "./source-map.js";
import { TGI_MAP } from "./tgi.js";
import { TRITON_MAP } from "./triton.js";
import { TRTLLM_MAP } from "./trtllm.js";
import { VLLM_MAP } from "./vllm.js";

export { COMPANIONS } from "./server-map.js";
export type { Aggregate, Blank, EntityDraft, Labels, MapRule, SourceMap } from "./source-map.js";

/** Every foreign source whose names are known. A further one is one file and one line here. */
export const SOURCE_MAPS: readonly SourceMap[] = [
  DCGM_MAP,
  NVIDIA_GPU_EXPORTER_MAP,
  NODE_EXPORTER_MAP,
  CADVISOR_MAP,
  VLLM_MAP,
  SGLANG_MAP,
  TRTLLM_MAP,
  TRITON_MAP,
  TGI_MAP,
  DYNAMO_MAP,
  LLAMACPP_MAP,
  LMDEPLOY_MAP,
  LITELLM_MAP,
];
