/** Up to `limit` names that are closest to `wanted` by edit distance, closest first; those that share nothing are left out. */
export function nearestNames(wanted: string, names: readonly string[], limit = 3): string[] {
  const a = wanted.toLowerCase();
  return names
    .map((name) => {
      const b = name.toLowerCase();
      return { name, distance: b.includes(a) || a.includes(b) ? 0.5 : editDistance(a, b) };
    })
    .filter(({ name, distance }) => distance < Math.max(wanted.length, name.length) * 0.7)
    .sort((x, y) => x.distance - y.distance || (x.name < y.name ? -1 : 1))
    .slice(0, limit)
    .map(({ name }) => name);
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      row.push(Math.min(row[j - 1]! + 1, previous[j]! + 1, previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)));
    }
    previous = row;
  }
  return previous[b.length]!;
}
