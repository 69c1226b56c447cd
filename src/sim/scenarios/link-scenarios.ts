import { fault, type NamedScenario, onB } from "./named-scenario.js";

const FABRIC = { fabric: true } as const;

export const LINK_SCENARIOS: readonly NamedScenario[] = [
  onB(
    "13",
    "all-reduces run over PCIe from the middle of the run on",
    [fault("topology_fallback", 70, 200, 0.8)],
    {
      classes: ["communication"],
      causes: ["topology-fallback", "link-saturated"],
    },
    { seconds: 140, load: { rate_per_s: 1.2 } },
  ),
  onB("14", "one rank is 12 ms late each step", [fault("straggler", 45, 70, 12)], { classes: ["communication"], causes: ["straggler"] }),
  onB(
    "15",
    "KV of prompts comes over a NIC that is nearly taken",
    [fault("pd_transfer", 45, 60, 0.2)],
    {
      classes: ["communication"],
      causes: ["pd-kv-transfer", "link-saturated", "fabric-congestion"],
    },
    { server: { pd_nic_bytes_per_s: 3.1e9 }, load: { rate_per_s: 1.6 } },
  ),
  onB(
    "16",
    "the fabric between two nodes is congested in bursts of 6 s",
    [fault("fabric_congestion", 40, 46, 0.06), fault("fabric_congestion", 60, 66, 0.06), fault("fabric_congestion", 80, 86, 0.06)],
    { classes: ["communication"], causes: ["fabric-congestion", "link-saturated"] },
    { server: FABRIC, load: { rate_per_s: 1.6 } },
  ),
  onB("hot-expert", "one rank computes 14 ms longer each step", [fault("hot_expert", 45, 70, 14)], {
    classes: ["communication", "compute"],
  }),
];
