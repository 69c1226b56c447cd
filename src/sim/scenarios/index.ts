import { COMPUTE_SCENARIOS } from "./compute-scenarios.js";
import { HOST_SCENARIOS } from "./host-scenarios.js";
import { LINK_SCENARIOS } from "./link-scenarios.js";
import { MEMORY_SCENARIOS } from "./memory-scenarios.js";
import type { NamedScenario } from "./named-scenario.js";
import { OTHER_SCENARIOS } from "./other-scenarios.js";

export type { ExpectedAnswer, NamedScenario } from "./named-scenario.js";

/** Every named scenario, in the order of their numbers. */
export const SCENARIOS: readonly NamedScenario[] = [
  ...COMPUTE_SCENARIOS,
  ...MEMORY_SCENARIOS,
  ...HOST_SCENARIOS,
  ...LINK_SCENARIOS,
  ...OTHER_SCENARIOS,
].sort((a, b) => numberOf(a.id) - numberOf(b.id) || (a.id < b.id ? -1 : 1));

function numberOf(id: string): number {
  const n = Number.parseInt(id, 10);
  return Number.isNaN(n) ? 1000 : n;
}
