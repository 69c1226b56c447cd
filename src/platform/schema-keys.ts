/** The part of a zod schema that tells which keys an object may have. Structural, so that zod itself is not loaded for it. */
interface SchemaNode {
  readonly def?: {
    readonly type?: string;
    readonly innerType?: SchemaNode;
    readonly in?: SchemaNode;
    readonly element?: SchemaNode;
    readonly valueType?: SchemaNode;
  };
  readonly shape?: Readonly<Record<string, SchemaNode>>;
}

/** Keys that the schema's object at `path` may have; empty when there is no object with fixed keys. */
export function keysAt(schema: unknown, path: readonly PropertyKey[]): string[] {
  let node = bare(schema as SchemaNode | undefined);
  for (const step of path) {
    node = bare(typeof step === "number" ? node?.def?.element : (node?.shape?.[String(step)] ?? node?.def?.valueType));
  }
  return node?.shape ? Object.keys(node.shape) : [];
}

function bare(node: SchemaNode | undefined): SchemaNode | undefined {
  let inner = node;
  for (let next = inner?.def?.innerType ?? inner?.def?.in; next; next = inner?.def?.innerType ?? inner?.def?.in) inner = next;
  return inner;
}

/** The candidate nearest to what was written, when it is near enough to be a slip. */
export function nearest(written: string, candidates: readonly string[]): string | null {
  let best: string | null = null;
  let bestDistance = Math.max(2, Math.floor(written.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(written.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, swap));
    }
    row = next;
  }
  return row[b.length]!;
}
