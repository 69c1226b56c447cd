/** The table of docs/architecture.md as data: a place may import the places that it names, and nothing else of ours. */
const may = {
  schemas: [],
  "src/core": ["schemas"],
  "src/sim": ["schemas", "src/core"],
  "src/time": ["schemas", "src/core"],
  "src/text": ["schemas", "src/core", "src/time"],
  collectors: ["schemas", "src/core", "src/time", "src/text"],
  "src/platform": ["schemas", "src/core", "src/time"],
  "src/store": ["schemas", "src/core", "src/time", "src/platform"],
  "src/intake": ["schemas", "src/core", "src/time", "src/text", "src/platform"],
  "src/diagnose": ["schemas", "src/core", "src/time"],
  "src/plan": ["schemas", "src/core", "src/time", "src/sim", "src/diagnose"],
  "src/report": ["schemas", "src/core", "src/time", "src/text"],
  "src/export": ["schemas", "src/core", "src/time", "src/text"],
  lab: ["schemas", "src/core", "src/sim", "src/time", "src/text", "src/platform"],
};
const ALL = [...Object.keys(may), "src/fleet", "src/agent", "src/cli", "test", "bench"];
for (const place of ["src/fleet", "src/agent"])
  may[place] = ALL.filter((p) => !["lab", "src/cli", "test", "bench", "src/fleet", "src/agent"].includes(p));
may["src/agent"].push("src/fleet");
may["src/cli"] = ALL.filter((p) => !["test", "bench", "src/cli"].includes(p));

const re = (place) => `^${place.replace("/", "\\/")}/`;
const rules = Object.entries(may).map(([place, allowed]) => ({
  name: `imports-of-${place.replace("/", "-")}`,
  severity: "error",
  from: { path: re(place) },
  to: { path: `^(${ALL.join("|")})/`, pathNot: [place, ...allowed].map(re) },
}));

module.exports = {
  forbidden: [
    ...rules,
    { name: "no-cycles", severity: "error", from: {}, to: { circular: true } },
    { name: "no-test-imports", severity: "error", from: { path: "^(schemas|src|collectors|lab)/" }, to: { path: "^(test|bench)/" } },
    {
      name: "collectors-alone",
      severity: "error",
      from: { path: "^collectors/(?!index)" },
      to: { path: "^collectors/", pathNot: "^collectors/parts/" },
    },
    { name: "resolvable", severity: "error", from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^(dist|test|node_modules)/" },
    tsConfig: { fileName: "tsconfig.json" },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      extensions: [".ts", ".js", ".json"],
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "types"],
    },
  },
};
