import type { NamedScenario } from "../../src/sim/scenarios/index.js";
import { type RequestForm, TIERS, type Variation } from "./variation.js";

/** A named scenario watched at its best (1 s, both views) but for what the scenario itself says. */
export function scenarioVariation(named: NamedScenario, form: RequestForm = "both", seedShift = 0): Variation {
  const { watch = {} } = named;
  const scenario = seedShift === 0 ? named.scenario : { ...named.scenario, seed: named.scenario.seed + seedShift };
  return {
    name: `scenario-${named.id}`,
    seed: scenario.seed,
    family: named.id,
    scenario,
    seconds: named.seconds,
    watch: {
      inputs: { ...TIERS.full, server: watch.server ?? true },
      engine: "vllm",
      form,
      interval_s: watch.interval_s ?? 1,
      lag_s: watch.lag_s ?? 0,
      client_offset_s: 0,
      telemetry_offset_s: watch.telemetry_offset_s ?? 0,
      loss: 0,
    },
    replicas: 1,
  };
}
