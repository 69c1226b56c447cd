/** Refusals of all sources of a page, by reason. */
export function addUp(bySource: Readonly<Record<string, Readonly<Record<string, number>>>>): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const reasons of Object.values(bySource)) {
    for (const [reason, count] of Object.entries(reasons)) sum[reason] = (sum[reason] ?? 0) + count;
  }
  return sum;
}
