import { conditionsAt } from "../../src/sim/conditions.js";
import { GPUS, MODELS } from "../../src/sim/hardware.js";
import { ROOFLINE } from "../../src/sim/physics.js";
import type { ServerOptions, Workload } from "../../src/sim/scenario.js";
import { stepCost } from "../../src/sim/step-cost.js";

/** Rough figures of a server under its workload, by which faults are sized. */
export interface Load {
  /** Share of the GPU's time that the workload takes. */
  readonly utilisation: number;
  readonly rate_per_s: number;
  /** A decode step at the usual batch. */
  readonly stepSeconds: number;
  /** Tokens that running requests hold. */
  readonly kvTokens: number;
  /** Share of the front end's core that the workload takes. */
  readonly tokenizerShare: number;
  /** Share of the link's bandwidth at which a step takes three times as long. */
  readonly linkShareThatTriples: number;
  prefillSeconds(tokens: number): number;
  /** Sessions of this context that make a decode step take twice as long. */
  sessionsThatDouble(context: number): number;
  /** Share of a NIC's speed that the prompts of the workload fill. */
  nicShareThatFills(bytes_per_s: number): number;
}

const DECODES = 12;
const NONE = { decodes: 0, context_tokens: 0, prefill_tokens: 0, prefill_attention: 0 };

/** Sizes the arrival rate of `workload` so that about `utilisation` of the GPU's time is used. */
export function serverLoad(server: ServerOptions, workload: Omit<Workload, "rate_per_s">, utilisation: number): Load {
  const calm = conditionsAt([], server, 0);
  const prompt = workload.prompt_median * Math.exp(workload.prompt_sigma ** 2 / 2);
  const output = workload.output_median * Math.exp(workload.output_sigma ** 2 / 2);
  const fresh = prompt * (1 - (workload.cached_share ?? 0));
  const context = prompt + output / 2;
  const costS = (work: Partial<typeof NONE>): number => {
    const { launch_us, gpu_us } = stepCost(server, calm, { ...NONE, ...work });
    return (launch_us + gpu_us) / 1e6;
  };
  const stepSeconds = costS({ decodes: DECODES, context_tokens: DECODES * context });
  const prefillSeconds = (tokens: number): number => costS({ prefill_tokens: tokens, prefill_attention: (tokens * tokens) / 2 });
  const busyS = prefillSeconds(fresh) + (output * stepSeconds) / DECODES;
  const rate_per_s = utilisation / busyS;
  const gpu = GPUS[server.gpu];
  const model = MODELS[server.model];
  const stepBytes = server.tp > 1 ? ((2 * (server.tp - 1)) / server.tp) * 2 * model.layers * DECODES * model.hidden * 2 : 1;
  const prefillShare = Math.max(1, rate_per_s * fresh * stepSeconds) / DECODES;
  const { front } = ROOFLINE;
  return {
    utilisation,
    rate_per_s,
    stepSeconds,
    kvTokens: Math.max(3, rate_per_s * output * stepSeconds * 1.3) * context,
    tokenizerShare: rate_per_s * ((front.accept_us + front.tokenize_us_per_token * prompt) / 1e6),
    linkShareThatTriples: Math.min(0.5, (stepBytes * (1 + prefillShare)) / (gpu.link_bytes_per_s * 0.8) / (2 * stepSeconds)),
    prefillSeconds,
    sessionsThatDouble: (tokens) => {
      const one = costS({ decodes: 1, context_tokens: tokens }) - costS({ decodes: 1, context_tokens: 1 });
      return stepSeconds / Math.max(1e-5, one);
    },
    nicShareThatFills: (bytes_per_s) => (rate_per_s * prompt * model.kv_bytes_per_token) / bytes_per_s / 0.8,
  };
}
