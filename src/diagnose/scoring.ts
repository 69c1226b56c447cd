import { CLASSES, type DecisionTable, type FactRow, type Phase, type VerdictClass } from "../../schemas/index.js";
import { clamp, ramp, softmax } from "../core/ramp.js";
import type { FactReading } from "./episode-context.js";
import type { PhaseShares } from "./phase-shares.js";

/** One fact's or cap's nats for every class, after explaining-away. */
export interface ScoredRow {
  readonly reading: FactReading | null;
  readonly name: string;
  readonly group: string;
  readonly nats: Record<VerdictClass, number>;
}

export interface Score {
  readonly prior: Record<VerdictClass, number>;
  readonly rows: readonly ScoredRow[];
  /** Nats per class: log prior plus all rows; -Infinity for a class that is out by construction. */
  readonly total: Record<VerdictClass, number>;
  readonly probability: Record<VerdictClass, number>;
  /** Capped nats by group and class. */
  readonly groups: ReadonlyMap<string, Record<VerdictClass, number>>;
}

const zeros = (): Record<VerdictClass, number> => ({
  compute: 0,
  bandwidth: 0,
  kv_cache: 0,
  cpu_tokenization: 0,
  communication: 0,
  indeterminate: 0,
});

/** Smallest prior that a class keeps: evidence must always be able to speak. */
const LEAST_PRIOR = 0.005;

/** Prior of the classes from the phases that lost the time; excluded classes get 0. */
export const phasePrior = (
  phases: PhaseShares,
  table: DecisionTable,
  excluded: ReadonlySet<VerdictClass>,
): Record<VerdictClass, number> => {
  const prior = zeros();
  for (const [phase, share] of Object.entries(phases) as [Phase, number][]) {
    const row = table.phase_prior[phase] ?? table.phase_prior.unattributed;
    for (const c of CLASSES) prior[c] += share * (row?.[c] ?? 1 / CLASSES.length);
  }
  let sum = 0;
  for (const c of CLASSES) {
    prior[c] = excluded.has(c) ? 0 : Math.max(LEAST_PRIOR, prior[c]) * (c === "indeterminate" ? Math.exp(table.none_bias) : 1);
    sum += prior[c];
  }
  for (const c of CLASSES) prior[c] /= sum;
  return prior;
};

/** How much of a present weight survives when the reading is what it always is. */
const contrastFactor = (row: FactRow, reading: FactReading): number =>
  row.contrast && Number.isFinite(reading.contrast) ? 0.5 + 0.5 * ramp(reading.contrast, 1, 2) : 1;

const factNats = (row: FactRow, reading: FactReading, phases: PhaseShares, absentAllowed: boolean): Record<VerdictClass, number> => {
  const nats = zeros();
  const q = reading.quality * row.quality;
  const r = reading.strength;
  const keep = contrastFactor(row, reading);
  for (const c of CLASSES) {
    const pair = row.weights[c];
    if (pair === undefined) continue;
    let absent = absentAllowed ? pair[1] : 0;
    // A GPU that is busy while requests wait in front of the scheduler speaks not against the CPU.
    if (row.name === "sm_idle" && c === "cpu_tokenization") absent *= 1 - (phases.ingress ?? 0) - (phases.tokenize ?? 0);
    nats[c] = q * (r * pair[0] * keep + (1 - r) * absent);
  }
  return nats;
};

/** The class that a fact's dose speaks for: the one with its largest present weight. */
const ownClass = (row: FactRow): VerdictClass | null => {
  let best: VerdictClass | null = null;
  for (const c of CLASSES) if ((row.weights[c]?.[0] ?? 0) > (best === null ? 0 : row.weights[best]![0])) best = c;
  return best;
};

/** Which facts of a group of alternatives may count their absence: none beside a present one, else only the worst. */
const absentFacts = (rows: readonly { row: FactRow; reading: FactReading }[], alternatives: readonly string[]): Set<string> => {
  const allowed = new Set(rows.map((x) => x.row.name));
  for (const group of alternatives) {
    const members = rows.filter((x) => x.row.group === group);
    const present = members.some((x) => x.reading.strength * x.reading.quality >= 0.3);
    let worst: string | null = null;
    let least = 0;
    for (const { row, reading } of members) {
      allowed.delete(row.name);
      for (const c of CLASSES) {
        const nats = reading.quality * row.quality * (1 - reading.strength) * (row.weights[c]?.[1] ?? 0);
        if (nats < least) {
          least = nats;
          worst = row.name;
        }
      }
    }
    if (!present && worst !== null) allowed.add(worst);
  }
  return allowed;
};

const explainAway = (rows: ScoredRow[], strengths: ReadonlyMap<string, number>, table: DecisionTable): void => {
  for (const rule of table.explains_away) {
    const by = Math.max(0, ...rule.by.map((name) => strengths.get(name) ?? 0));
    if (by === 0) continue;
    const keep = 1 - rule.factor * by;
    for (const row of rows) {
      if (!rule.on.includes(row.name)) continue;
      const nats = row.nats[rule.class];
      if (rule.sign === "positive" ? nats > 0 : nats < 0) row.nats[rule.class] = nats * keep;
    }
  }
};

/** Additive log-odds with group caps: every nat has a row, so that prior and rows add up to the score. */
export const score = (
  readings: readonly FactReading[],
  phases: PhaseShares,
  table: DecisionTable,
  excluded: ReadonlySet<VerdictClass>,
): Score => {
  const byName = new Map(readings.map((r) => [r.fact, r]));
  const pairs = table.facts.flatMap((row) => {
    const reading = byName.get(row.name);
    return reading === undefined ? [] : [{ row, reading }];
  });
  const absent = absentFacts(pairs, table.alternatives);
  const rows: ScoredRow[] = pairs.map(({ row, reading }) => {
    const nats = factNats(row, reading, phases, absent.has(row.name));
    const own = ownClass(row);
    if (own !== null && Number.isFinite(reading.dose)) {
      const strong = reading.strength > 0.3 ? table.dose.present * ramp(reading.dose, ...table.dose.ramp) : 0;
      nats[own] += reading.quality * strong;
    }
    return { reading, name: row.name, group: row.group, nats };
  });
  explainAway(rows, new Map(readings.map((r) => [r.fact, r.strength * r.quality])), table);
  const groups = new Map<string, Record<VerdictClass, number>>();
  for (const row of rows) {
    const sum = groups.get(row.group) ?? zeros();
    for (const c of CLASSES) sum[c] += row.nats[c];
    groups.set(row.group, sum);
  }
  for (const [group, sum] of [...groups.entries()].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const over = zeros();
    let any = false;
    for (const c of CLASSES) {
      const capped = clamp(sum[c], -table.group_cap, table.group_cap);
      if (capped === sum[c]) continue;
      over[c] = capped - sum[c];
      sum[c] = capped;
      any = true;
    }
    if (any) rows.push({ reading: null, name: `cap:${group}`, group, nats: over });
  }
  const prior = phasePrior(phases, table, excluded);
  const total = zeros();
  for (const c of CLASSES) {
    total[c] = Math.log(prior[c]);
    for (const row of rows) total[c] += row.nats[c];
  }
  const p = softmax(
    CLASSES.map((c) => total[c]),
    table.temperature,
  );
  const probability = zeros();
  CLASSES.forEach((c, i) => {
    probability[c] = p[i]!;
  });
  return { prior, rows, total, probability, groups };
};
