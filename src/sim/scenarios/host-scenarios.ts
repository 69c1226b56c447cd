import { fault, type NamedScenario, onA } from "./named-scenario.js";

export const HOST_SCENARIOS: readonly NamedScenario[] = [
  onA(
    "10",
    "agents send 60k prompts that are nearly all cached",
    [fault("agent_burst", 40, 58, 10.5, { prompt_tokens: 60_000 })],
    {
      classes: ["cpu_tokenization"],
      causes: ["tokenize", "api-server"],
    },
    { load: { rate_per_s: 2 } },
  ),
  onA("11", "the container's CPU quota binds", [fault("cpu_throttle", 45, 65, 0.25)], {
    classes: ["cpu_tokenization"],
    causes: ["cgroup-quota"],
  }),
  onA(
    "12",
    "small batch, CUDA graphs off",
    [fault("launch", 60, 100, 26)],
    { classes: ["cpu_tokenization"], causes: ["launch", "api-server"] },
    {
      seconds: 160,
      load: { rate_per_s: 0.9, prompt_median: 400 },
    },
  ),
];
