import { drawVariation } from "../../../lab/variations/draw-variation.js";
import { simulateWatched } from "../../../lab/variations/simulate-variation.js";
import { TIERS, type Watch } from "../../../lab/variations/variation.js";
import type { DecisionTable } from "../../../schemas/decision-table.js";
import { diagnose } from "../../diagnose/diagnose.js";
import { simulatedInput } from "./judge-simulated.js";
import { addRun, figures, newTally, type Tally } from "./tally.js";

interface Step {
  readonly name: string;
  readonly change: Partial<Watch>;
}

const without = (change: Partial<Watch["inputs"]>): Partial<Watch> => ({ inputs: { ...TIERS.full, ...change } });

/** What is taken away, one thing at a time, from a run that is watched at its best. */
export const ABLATIONS: readonly Step[] = [
  { name: "all inputs, 1 s", change: {} },
  { name: "no server metrics", change: without({ server: false }) },
  { name: "no host metrics", change: without({ host: false }) },
  { name: "no link rates", change: without({ links: false }) },
  { name: "dcgm-exporter's shipped list", change: without({ gpu: "stock" }) },
  { name: "nvidia-smi instead of DCGM", change: without({ gpu: "smi" }) },
  { name: "no GPU telemetry", change: without({ gpu: "none" }) },
  { name: "requests alone", change: without({ gpu: "none", server: false, host: false, links: false }) },
  ...[5, 15, 30].map((s) => ({ name: `samples every ${s} s`, change: { interval_s: s } })),
  ...[1, 3].map((s) => ({ name: `GPU readings ${s} s late`, change: { lag_s: s } })),
  ...[0.5, 2].map((s) => ({ name: `client's clock ${s} s ahead`, change: { client_offset_s: s } })),
  { name: "a fifth of the scrapes lost", change: { loss: 0.2 } },
  ...[200, 50, 20].map((n) => ({ name: `${n} requests`, change: { requests: n } })),
];

export interface AblationRow {
  readonly name: string;
  readonly tally: Tally;
}

/** Families that the ablation is made of: one clear fault of every class and mechanism. */
const FAMILIES = [
  ...["long_prompts", "arrival_burst", "thermal", "bw_cotenant", "context_growth", "kv_full"],
  ...["cpu_tokenize", "cpu_throttle", "link_degraded", "straggler"],
] as const;

/** Watches the same simulated runs in every way of `ABLATIONS`; `runs` of each family. */
export function ablate(
  runs: number,
  seed: number,
  table: DecisionTable,
  onRun: (done: number, total: number) => void = () => {},
): AblationRow[] {
  const rows = ABLATIONS.map(({ name }) => ({ name, tally: newTally() }));
  const total = runs * FAMILIES.length;
  for (let i = 0; i < total; i++) {
    const drawn = drawVariation(seed + i, { family: FAMILIES[i % FAMILIES.length]!, tier: "full", clear: true });
    const variation = { ...drawn, replicas: 1, watch: { ...drawn.watch, form: "aiperf" as const } };
    const watched = simulateWatched(
      variation,
      ABLATIONS.map(({ change }) => ({ ...variation.watch, ...change })),
    );
    for (const [k, run] of watched.entries()) {
      const labels = { name: variation.name, family: variation.family, requests: run.truth };
      addRun(rows[k]!.tally, labels, diagnose(simulatedInput(run), table));
    }
    onRun(i + 1, total);
  }
  return rows;
}

/** Share of all slow requests that were answered with one of the five classes. */
export function answeredShare(tally: Tally): number {
  const slow = tally.found + tally.missed;
  return slow === 0 ? 0 : (1 - figures(tally).abstain) * (tally.found / slow);
}
