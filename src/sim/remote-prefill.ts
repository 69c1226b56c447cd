import { conditionsAt } from "./conditions.js";
import type { Physics } from "./physics.js";
import type { Fault, ServerOptions } from "./scenario.js";

const PEER_DECODES = 16;
const PEER_CONTEXT = 1000;

/** The step of the other data-parallel rank while it computes a prompt, chunk by chunk; nothing when it computes none. */
export function remotePrefillUs(
  faults: readonly Fault[],
  server: ServerOptions,
  physics: Physics,
  at_us: number,
): { readonly step_us: number; readonly tokens: number } {
  const fault = faults.find((f) => f.kind === "remote_prefill" && at_us >= f.start_us && at_us < f.end_us);
  if (!fault) return { step_us: 0, tokens: 0 };
  const chunk = server.max_batched_tokens;
  const work = {
    decodes: PEER_DECODES,
    context_tokens: PEER_DECODES * PEER_CONTEXT,
    prefill_tokens: chunk,
    prefill_attention: (chunk * fault.magnitude) / 2,
  };
  const step_us = physics.stepCost(server, conditionsAt([], server, at_us), work).gpu_us;
  const steps = Math.ceil(fault.magnitude / chunk);
  const period_us = 1e6 / (fault.rate_per_s ?? 1);
  return (at_us - fault.start_us) % period_us < steps * step_us ? { step_us, tokens: chunk } : { step_us: 0, tokens: 0 };
}
