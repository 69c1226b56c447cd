export type CounterLabels = Readonly<Record<string, string>>;

export interface CounterValue {
  readonly name: string;
  readonly labels: CounterLabels;
  readonly value: number;
}

/** Plain counters that any part may raise; the exporter reads them. */
export interface Counters {
  add(name: string, labels?: CounterLabels, by?: number): void;
  /** 0 for one that was never raised. */
  get(name: string, labels?: CounterLabels): number;
  /** All counters, in the order of their first raise. */
  values(): CounterValue[];
}

const keyOf = (name: string, labels: CounterLabels): string => {
  let key = name;
  for (const label of Object.keys(labels).sort()) key += `\u0000${label}\u0001${labels[label]}`;
  return key;
};

export function createCounters(): Counters {
  const byKey = new Map<string, { name: string; labels: CounterLabels; value: number }>();
  return {
    add(name, labels = {}, by = 1) {
      const key = keyOf(name, labels);
      const entry = byKey.get(key);
      if (entry) entry.value += by;
      else byKey.set(key, { name, labels, value: by });
    },
    get: (name, labels = {}) => byKey.get(keyOf(name, labels))?.value ?? 0,
    values: () => [...byKey.values()].map((entry) => ({ ...entry })),
  };
}
