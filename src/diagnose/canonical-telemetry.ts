import type { DiagnosisInput, Track } from "../../schemas/index.js";

const key = (t: Track): string => [t.entity.kind, t.entity.node, t.entity.key, t.source.name].join("\u0000");

/**
 * The input with its tracks in one order and without columns that hold no reading: a source that never said anything is the same as
 * one that is not there, and the order in which files were imported is no evidence.
 */
export const canonicalTelemetry = (input: DiagnosisInput): DiagnosisInput => {
  const tracks: Track[] = [];
  for (const t of input.telemetry.tracks) {
    const columns = Object.fromEntries(
      Object.keys(t.columns)
        .sort()
        .filter((name) => t.columns[name]!.some(Number.isFinite))
        .map((name) => [name, t.columns[name]!]),
    );
    if (Object.keys(columns).length > 0) tracks.push({ ...t, columns });
  }
  tracks.sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
  return { ...input, telemetry: { ...input.telemetry, tracks } };
};
