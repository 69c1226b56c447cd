import { columnSpec, type DiagnosisInput, type Report, type Track } from "../../schemas/index.js";
import { rounded } from "./evidence.js";
import type { TelemetryView } from "./telemetry-view.js";

type SourceRow = Report["data"]["sources"][number];

/** A gap longer than this many refreshes is not covered. */
const GAP = 2.5;

/** Part of [from, to] that the readings of a track cover. */
const coverage = (track: Track, refresh_us: number, from: number, to: number): number => {
  if (!(to > from) || !Number.isFinite(refresh_us)) return track.ts_us.length > 0 ? 1 : 0;
  let covered = 0;
  for (let i = 0; i < track.ts_us.length; i++) {
    const since = i === 0 ? refresh_us : track.ts_us[i]! - track.ts_us[i - 1]!;
    const start = track.ts_us[i]! - (since > GAP * refresh_us ? refresh_us : since);
    covered += Math.max(0, Math.min(to, track.ts_us[i]!) - Math.max(from, start));
  }
  return Math.min(1, covered / (to - from));
};

const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

/** The sources as measured, one row a source and kind of entity. */
export const sourceRows = (input: DiagnosisInput, view: TelemetryView, from: number, to: number): SourceRow[] => {
  const groups = new Map<string, Track[]>();
  for (const t of input.telemetry.tracks) {
    const key = `${t.source.name}\u0000${t.entity.kind}`;
    groups.set(key, [...(groups.get(key) ?? []), t]);
  }
  const rows: SourceRow[] = [];
  for (const [, tracks] of [...groups.entries()].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const first = tracks[0]!;
    const measured = tracks.map((t) => view.refresh(t));
    const refresh = median(measured.map((r) => r.refresh_us).filter(Number.isFinite));
    const averaged = Object.keys(first.columns).some((c) => columnSpec(first.entity.kind, c)?.window === "interval");
    const window = first.source.window_ms ?? (averaged ? refresh / 1000 : 0);
    const lag = view.measuredLag(first);
    const rejected = Object.values(first.source.rejected).reduce((a, b) => a + b, 0);
    rows.push({
      source: first.source.name,
      entity_kind: first.entity.kind,
      entities: new Set(tracks.map((t) => `${t.entity.node}\u0000${t.entity.key}`)).size,
      samples: tracks.reduce((a, t) => a + t.ts_us.length, 0),
      interval_ms: rounded(refresh / 1000, 1),
      window_ms: rounded(window, 1),
      lag_ms: first.source.lag_ms ?? (lag === null ? null : rounded(lag.lag_us / 1000, 1)),
      ...(lag === null ? {} : { lag_rho: rounded(lag.rho, 3) ?? 0 }),
      coverage: rounded(Math.min(...tracks.map((t, i) => coverage(t, measured[i]!.refresh_us, from, to))), 4) ?? 0,
      ...(rejected > 0 ? { rejected } : {}),
    });
  }
  return rows;
};
