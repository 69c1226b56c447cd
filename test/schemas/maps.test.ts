import { describe, expect, it } from "vitest";
import { columnSpec } from "../../schemas/columns/index.js";
import { COMPANIONS, type MapRule, SOURCE_MAPS } from "../../schemas/maps/index.js";

const rulesOf = (rules: MapRule | readonly MapRule[]): readonly MapRule[] => (Array.isArray(rules) ? rules : [rules as MapRule]);

const all = [
  ...SOURCE_MAPS.flatMap((map) => Object.entries(map.metrics).map(([name, rules]) => ({ map: map.source, name, rules: rulesOf(rules) }))),
  ...Object.entries(COMPANIONS).map(([name, rule]) => ({ map: "companions", name, rules: [rule] })),
];

describe("maps of foreign names", () => {
  it("name only columns that their kind has", () => {
    const unknown = all.flatMap(({ map, name, rules }) =>
      rules.filter((r) => columnSpec(r.kind, r.column) === undefined).map((r) => `${map}: ${name} -> ${r.kind}.${r.column}`),
    );
    expect(unknown).toEqual([]);
  });

  it("are written with normalised names, so that they can be found", () => {
    expect(all.map((a) => a.name).filter((name) => name.includes(":") || name.startsWith("ray_"))).toEqual([]);
  });

  it("give each name to one source", () => {
    const names = all.map((a) => a.name.toLowerCase());
    expect(names.filter((n, i) => names.indexOf(n) !== i)).toEqual([]);
  });

  it("combine the series of one column in one way, and never add levels", () => {
    const ways = new Map<string, Set<string>>();
    for (const { map, rules } of all) {
      for (const r of rules) {
        const id = `${map} ${r.kind}.${r.column} ${r.prefer ?? 0}`;
        ways.set(id, (ways.get(id) ?? new Set()).add(r.aggregate ?? "first"));
        if (r.aggregate === "sum") expect([map, r.column, columnSpec(r.kind, r.column)?.type]).toEqual([map, r.column, "counter"]);
      }
    }
    expect([...ways].filter(([, w]) => w.size > 1).map(([id]) => id)).toEqual([]);
  });

  it("know both operands of every difference, quotient and product", () => {
    for (const map of SOURCE_MAPS) {
      const pairs = Object.values(map.metrics)
        .flatMap(rulesOf)
        .filter((r) => ["difference", "quotient", "product"].includes(r.aggregate ?? "first"));
      for (const { column, prefer } of pairs) {
        const operands = pairs.filter((r) => r.column === column && r.prefer === prefer).map((r) => r.second === true);
        expect([map.source, column, [...new Set(operands)].sort()]).toEqual([map.source, column, [false, true]]);
      }
    }
  });
});
