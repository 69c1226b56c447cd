// Means of telemetry columns over request windows: prefix sums against a scan of each window, and against DuckDB where it is installed.
//   node --import tsx bench/window-means.ts [requests] [hours] [columns]
import os from "node:os";
import { EMPTY_SERIES, type IntervalSeries } from "../src/core/interval-series.js";
import { prefixSums, windowMeans } from "../src/core/window-mean.js";

const REQUESTS = Number(process.argv[2] ?? 200_000);
const HOURS = Number(process.argv[3] ?? 24);
const COLUMNS = Number(process.argv[4] ?? 8);
const SECOND = 1_000_000;

let seed = 1;
const random = (): number => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return seed / 2 ** 32;
};

const samples = HOURS * 3600;
const series: IntervalSeries[] = Array.from({ length: COLUMNS }, () => ({
  ...EMPTY_SERIES,
  n: samples,
  from: Float64Array.from({ length: samples }, (_, i) => i * SECOND),
  to: Float64Array.from({ length: samples }, (_, i) => (i + 1) * SECOND),
  value: Float64Array.from({ length: samples }, random),
  momentary: false,
}));
const from = Float64Array.from({ length: REQUESTS }, () => random() * (samples - 60) * SECOND).sort();
const to = from.map((t) => t + (0.2 + 20 * random()) * SECOND);

const timed = <T>(work: () => T): [T, number] => {
  const start = process.hrtime.bigint();
  const result = work();
  return [result, Number(process.hrtime.bigint() - start) / 1e6];
};

const [ours, oursMs] = timed(() => {
  let sum = 0;
  for (const means of windowMeans(series.map(prefixSums), from, to)) for (const mean of means) sum += mean;
  return sum;
});

/** What a reader would write first: walk the readings of each window. The first one is found by division, as samples are regular here. */
const [scan, scanMs] = timed(() => {
  let sum = 0;
  for (const s of series)
    for (let i = 0; i < REQUESTS; i++) {
      let area = 0;
      let covered = 0;
      for (let k = Math.floor(from[i]! / SECOND); k < s.n && s.from[k]! < to[i]!; k++) {
        const part = Math.min(to[i]!, s.to[k]!) - Math.max(from[i]!, s.from[k]!);
        area += part * s.value[k]!;
        covered += part;
      }
      sum += area / covered;
    }
  return sum;
});

const means = REQUESTS * COLUMNS;
console.log(`${os.cpus()[0]?.model ?? "unknown CPU"}, node ${process.version}, ${new Date().toISOString().slice(0, 10)}`);
console.log(`${REQUESTS} windows x ${COLUMNS} columns of ${samples} samples`);
console.log(`prefix sums: ${oursMs.toFixed(0)} ms, ${((oursMs * 1e6) / means).toFixed(0)} ns a mean`);
console.log(`scan:        ${scanMs.toFixed(0)} ms, ${(scanMs / oursMs).toFixed(1)} x`);
console.log(`difference of the sums: ${Math.abs(ours / scan - 1).toExponential(1)}`);

interface DuckDb {
  readonly DuckDBInstance: { create(): Promise<{ connect(): Promise<{ run(sql: string): Promise<unknown> }> }> };
}

/** The peer is no dependency of this project: it is used where somebody installed it. */
const peer = async (): Promise<void> => {
  const name = "@duckdb/node-api";
  const duck = await import(name).then(
    (m: DuckDb) => m.DuckDBInstance.create(),
    () => null,
  );
  if (duck === null) {
    console.log(`DuckDB: not measured, npm install --no-save ${name} to compare`);
    return;
  }
  const db = await duck.connect();
  const columns = series.map((_, c) => `random() AS v${c}`).join(", ");
  await db.run(`CREATE TABLE s AS SELECT range * ${SECOND} AS f, (range + 1) * ${SECOND} AS t, ${columns} FROM range(${samples})`);
  await db.run(`CREATE TABLE r AS SELECT row_number() OVER () AS id, f, f + (0.2 + 20 * random()) * ${SECOND} AS t
    FROM (SELECT random() * ${(samples - 60) * SECOND} AS f FROM range(${REQUESTS}))`);
  const part = "(least(r.t, s.t) - greatest(r.f, s.f))";
  const select = series.map((_, c) => `sum(${part} * v${c}) / sum(${part})`).join(", ");
  const start = process.hrtime.bigint();
  await db.run(`CREATE TABLE m AS SELECT r.id, ${select} FROM r JOIN s ON s.f < r.t AND s.t > r.f GROUP BY r.id`);
  const ms = Number(process.hrtime.bigint() - start) / 1e6;
  console.log(`DuckDB:      ${ms.toFixed(0)} ms, ${(ms / oursMs).toFixed(1)} x`);
};
await peer();
