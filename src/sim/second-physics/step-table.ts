import type { GpuName, ModelName } from "../hardware.js";

/**
 * Decode step of an 8-billion-parameter model in BF16 on one H100, ms, by batch and by thousands of tokens of context, and what prompt
 * tokens add. The steps of the batch axis are those of captured CUDA graphs: a batch of 17 costs what one of 24 costs. Shape after the
 * reference servers of public reports; no line of it comes from the rooflines of the first physics.
 */
export const BATCHES = [1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256] as const;
export const CONTEXT_K = [0, 10, 25, 50, 100, 200, 400, 800] as const;
export const DECODE_MS: readonly (readonly number[])[] = [
  [6.6, 7.1, 8.0, 9.4, 12.3, 18.2, 29.9, 53.5],
  [6.6, 7.1, 8.0, 9.4, 12.2, 18.0, 29.6, 53.0],
  [6.7, 7.2, 8.0, 9.4, 12.2, 17.9, 29.3, 52.4],
  [6.8, 7.3, 8.1, 9.4, 12.1, 17.6, 28.6, 51.0],
  [7.1, 7.6, 8.4, 9.7, 12.2, 17.5, 28.0, 49.6],
  [7.3, 7.8, 8.6, 9.9, 12.4, 17.6, 28.0, 49.2],
  [7.6, 8.1, 8.8, 10.1, 12.6, 17.7, 28.0, 48.9],
  [8.0, 8.5, 9.3, 10.5, 13.0, 18.0, 28.1, 48.6],
  [8.5, 9.0, 9.7, 10.9, 13.4, 18.4, 28.4, 48.6],
  [9.4, 9.9, 10.6, 11.8, 14.2, 19.2, 29.1, 49.0],
  [10.4, 10.8, 11.5, 12.7, 15.1, 20.0, 29.9, 49.6],
  [12.3, 12.7, 13.4, 14.6, 17.0, 21.8, 31.6, 51.2],
  [14.2, 14.7, 15.4, 16.5, 18.9, 23.7, 33.4, 52.8],
];
/** Prompt tokens of a step, and the ms that they add; the attention of their context comes on top. */
export const PREFILL_TOKENS = [0, 64, 256, 512, 1024, 2048, 4096, 8192, 32768] as const;
export const PREFILL_MS = [0, 2.6, 8.4, 15.1, 29.5, 60.2, 123, 251, 1020] as const;
/** ms per million of token pairs. */
export const ATTENTION_MS = 0.56;

/** Times of that table's figures on other GPUs: decode, prompt tokens. */
export const GPU_FACTOR: Readonly<Record<GpuName, { readonly decode: number; readonly prefill: number }>> = {
  h100: { decode: 1, prefill: 1 },
  h200: { decode: 0.76, prefill: 0.97 },
  a100: { decode: 1.58, prefill: 2.7 },
  l40s: { decode: 3.6, prefill: 2.4 },
};
export const MODEL_FACTOR: Readonly<Record<ModelName, { readonly decode: number; readonly context: number; readonly prefill: number }>> = {
  "llama-3.1-8b": { decode: 1, context: 1, prefill: 1 },
  "qwen2.5-7b": { decode: 0.93, context: 0.5, prefill: 0.92 },
  "qwen2.5-14b": { decode: 1.78, context: 1.5, prefill: 1.8 },
  "qwen2.5-32b": { decode: 3.8, context: 2.0, prefill: 4.0 },
  "llama-3.1-70b": { decode: 8.1, context: 2.5, prefill: 8.5 },
};
/** What a rank adds to the speed of the others. */
export const TP_EFFICIENCY = 0.88;

/** Linear between the points of an ascending axis, and beyond its end as between the last two. */
export function interpolate(axis: readonly number[], values: readonly number[], at: number): number {
  let i = 0;
  while (i < axis.length - 2 && axis[i + 1]! < at) i++;
  const share = (at - axis[i]!) / (axis[i + 1]! - axis[i]!);
  return values[i]! + share * (values[i + 1]! - values[i]!);
}

/** Batch as the captured graphs round it up. */
export const graphBatch = (batch: number): number => {
  const i = BATCHES.findIndex((b) => b >= batch);
  return i < 0 ? BATCHES.length - 1 : i;
};
