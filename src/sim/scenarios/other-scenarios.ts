import { fault, type NamedScenario, onA } from "./named-scenario.js";

export const OTHER_SCENARIOS: readonly NamedScenario[] = [
  onA("19", "the way to some clients stalls twice", [fault("client_network", 40, 43, 0.5), fault("client_network", 70, 73, 0.5)], {
    classes: ["indeterminate"],
    causes: ["client-network"],
  }),
  onA("20", "nothing happens for 2,000 requests", [], "quiet", { seconds: 400 }),
  onA(
    "21",
    "all processes stand still for 600 ms, three times",
    [fault("pause", 40, 40.6, 1), fault("pause", 60, 60.6, 1), fault("pause", 80, 80.6, 1)],
    { classes: ["indeterminate"] },
  ),
  onA("23", "the load rises from 2 to 8 requests a second, without saturation", [], "quiet", {
    seconds: 360,
    load: { rate_per_s: 2, rate_end_per_s: 8, ramp_s: 360 },
  }),
  onA("27", "one request every five seconds", [], "quiet", { seconds: 1200, load: { rate_per_s: 0.2 } }),
  onA("28", "graph capture slows the first steps", [fault("warm_up", 0, 4, 90)], { classes: ["indeterminate"] }),
  onA("30", "another tenant trains on the same GPU", [fault("gpu_cotenant", 45, 75, 0.55)], {
    classes: ["indeterminate", "compute"],
    max_confidence: 0.6,
  }),
  onA("restart", "the server starts anew and loads its weights", [fault("restart", 45, 65, 1)], {
    classes: ["indeterminate"],
    causes: ["restart-or-load"],
  }),
  onA(
    "two-faults",
    "heat, and 20 s after its end the container's quota",
    [fault("thermal", 40, 60, 0.35), fault("cpu_throttle", 80, 95, 0.2)],
    {
      classes: [["compute"], ["cpu_tokenization"]],
    },
    { seconds: 140 },
  ),
];
