import { CLASSES, type Evidence, type VerdictClass } from "../../schemas/index.js";
import { formatIso } from "../time/iso-time.js";
import type { EpisodeContext } from "./episode-context.js";
import type { Score } from "./scoring.js";

/** Rounds to a fixed number of decimals; null for what is no number. */
export const rounded = (x: number, decimals: number): number | null => {
  if (!Number.isFinite(x)) return null;
  const scale = 10 ** decimals;
  const r = Math.round(x * scale) / scale;
  return r === 0 ? 0 : r;
};

const NAT_DECIMALS = 6;

const plain = (x: number): string => {
  if (!Number.isFinite(x)) return "unknown";
  const size = Math.abs(x);
  return size >= 100 ? x.toFixed(0) : size >= 10 ? x.toFixed(1) : x.toFixed(2);
};

const textOf = (template: string, value: number, expected: number): string => {
  const text = Number.isFinite(expected) ? template : template.replace(/, usually \{expected\}/, "");
  return text.replace("{value}", plain(value)).replace("{expected}", plain(expected));
};

/** Evidence rows towards `towards`, the strongest first; prior and rows add up to the returned score. */
export const evidenceRows = (
  ctx: EpisodeContext,
  score: Score,
  towards: VerdictClass,
): { rows: Evidence[]; prior_nats: number | null; score_nats: number | null } => {
  const window: [string, string] = [formatIso(Math.round(ctx.incident.from)), formatIso(Math.round(ctx.incident.to))];
  const rows = score.rows.map((row): Evidence => {
    const fact = ctx.table.facts.find((f) => f.name === row.name);
    const nats: Partial<Record<VerdictClass, number>> = {};
    for (const c of CLASSES) if (row.nats[c] !== 0) nats[c] = rounded(row.nats[c], NAT_DECIMALS) ?? 0;
    const { reading } = row;
    return {
      fact: row.name,
      value: reading === null ? null : rounded(reading.value, 6),
      expected: reading === null ? null : rounded(reading.expected, 6),
      window,
      quality: reading === null ? 1 : (rounded(reading.quality, 4) ?? 0),
      weight_nats: rounded(row.nats[towards], NAT_DECIMALS) ?? 0,
      source: reading === null ? "table" : reading.source,
      nats,
      text:
        reading === null || fact === undefined
          ? `facts of the group ${row.group} are capped together`
          : textOf(fact.text, reading.value, reading.expected),
    };
  });
  rows.sort((a, b) => Math.abs(b.weight_nats) - Math.abs(a.weight_nats) || (a.fact < b.fact ? -1 : 1));
  const prior = rounded(Math.log(score.prior[towards]), NAT_DECIMALS);
  const sum =
    prior === null
      ? null
      : rounded(
          rows.reduce((a, r) => a + r.weight_nats, prior),
          NAT_DECIMALS,
        );
  return { rows, prior_nats: prior, score_nats: sum };
};
