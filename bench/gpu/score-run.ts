import fs from "node:fs";
import type { Report, Spike, VerdictClass } from "../../schemas/report.js";

/** One request of the truth file (`labels.json`). */
export interface Label {
  readonly request_id: string;
  readonly spike: boolean | null;
  readonly ttft: readonly VerdictClass[] | null;
  readonly e2e: readonly VerdictClass[] | null;
  readonly fault?: string | null;
}

export interface RegimeScore {
  readonly name: string;
  readonly spikes: number;
  readonly found: number;
  readonly right: number;
  readonly abstained: number;
  /** Wrong answers by class. */
  readonly wrong: Readonly<Record<string, number>>;
  readonly missed: readonly string[];
  /** right / spikes; null without a scored spike. */
  readonly accuracy: number | null;
}

export interface RunScore {
  readonly regimes: readonly RegimeScore[];
  readonly accuracy: number | null;
  readonly quiet: number;
  readonly false_alarms: number;
}

const ORDER: readonly string[] = ["ttft", "queue", "e2e", "tpot", "itl"];
const isFirst = (spike: Spike): boolean => spike.metric === "ttft" || spike.metric === "queue";

/** The spike that speaks for the request where the truth knows the TTFT or the E2E, and the classes that are right for it. */
function judged(spikes: readonly Spike[], label: Label): { spike: Spike; right: readonly VerdictClass[] } {
  const first = label.ttft && spikes.find(isFirst);
  const whole = label.e2e && spikes.find((s) => !isFirst(s));
  const spike = first || whole || spikes[0]!;
  const right = (isFirst(spike) ? (label.ttft ?? label.e2e) : (label.e2e ?? label.ttft)) ?? [];
  return { spike, right };
}

function scoreRegime(name: string, labels: readonly Label[], spikes: ReadonlyMap<string, readonly Spike[]>): RegimeScore {
  const scored = labels.filter((l) => l.fault === name && l.spike === true && (l.ttft !== null || l.e2e !== null));
  const missed: string[] = [];
  const wrong: Record<string, number> = {};
  let right = 0;
  let abstained = 0;
  for (const label of scored) {
    const found = spikes.get(label.request_id);
    if (!found) {
      missed.push(label.request_id);
      continue;
    }
    const one = judged(found, label);
    if (one.right.includes(one.spike.class)) right++;
    else if (one.spike.class === "indeterminate") abstained++;
    else wrong[one.spike.class] = (wrong[one.spike.class] ?? 0) + 1;
  }
  const accuracy = scored.length === 0 ? null : right / scored.length;
  return { name, spikes: scored.length, found: scored.length - missed.length, right, abstained, wrong, missed, accuracy };
}

/** Holds a report against the truth of a run of the kit, by regime. */
export function scoreRun(
  report: Pick<Report, "spikes">,
  truth: { faults: readonly { name: string }[]; requests: readonly Label[] },
): RunScore {
  const spikes = new Map<string, Spike[]>();
  for (const spike of report.spikes.toSorted((a, b) => ORDER.indexOf(a.metric) - ORDER.indexOf(b.metric)))
    spikes.set(spike.request_id, [...(spikes.get(spike.request_id) ?? []), spike]);
  const regimes = truth.faults.map((fault) => scoreRegime(fault.name, truth.requests, spikes));
  const total = regimes.reduce((sum, r) => sum + r.spikes, 0);
  const quiet = truth.requests.filter((l) => l.spike === false);
  return {
    regimes,
    accuracy: total === 0 ? null : regimes.reduce((sum, r) => sum + r.right, 0) / total,
    quiet: quiet.length,
    false_alarms: quiet.filter((l) => spikes.get(l.request_id)?.some((s) => s.metric !== "itl")).length,
  };
}

if (process.argv[1] === import.meta.filename) {
  const folder = process.argv[2] ?? ".";
  const read = (name: string): unknown => JSON.parse(fs.readFileSync(`${folder}/${name}`, "utf8"));
  const score = scoreRun(read("report.json") as Report, read("labels.json") as Parameters<typeof scoreRun>[1]);
  process.stdout.write(`${JSON.stringify(score)}\n`);
}
