// Rows a second from samples in memory to committed rows: the store's sink against plain SQLite with one statement a row.
// Both write the same 24 columns with the same keys, journal and rows a transaction, in turns, each into a new file.
//   node --import tsx bench/telemetry-insert.ts [rows] [rounds]
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import Database from "better-sqlite3";
import { COLUMNS } from "../schemas/columns/index.js";
import type { EntityRef, Sample } from "../schemas/samples.js";
import { openStore } from "../src/store/open-store.js";

const ROWS = Number(process.argv[2] ?? 200_000);
const ROUNDS = Number(process.argv[3] ?? 5);
const VALUE_COLUMNS = 20;
const GPUS = 8;
const ROWS_PER_TRANSACTION = 1000;
const START_US = 1_767_225_600_000_000;
const REACH = 1.35;

const names = COLUMNS.gpu.slice(0, VALUE_COLUMNS).map((c) => c.name);
const gpus: EntityRef[] = Array.from({ length: GPUS }, (_, i) => ({
  kind: "gpu",
  node: "n",
  key: `GPU-${i}`,
  labels: { index: String(i) },
}));
const source = { name: "bench", node: "n", run: null, interval_ms: 1000, window_ms: null, lag_ms: null };

/** Small-integer, level and noisy values, as GPUs give them. */
function makeSamples(): Sample[] {
  let seed = 1;
  const random = (): number => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return seed / 2147483648;
  };
  return Array.from({ length: ROWS }, (_, i) => ({
    entity: gpus[i % GPUS]!,
    ts_us: START_US + Math.floor(i / GPUS) * 1_000_000,
    epoch: 0,
    values: Object.fromEntries(names.map((name, c) => [name, c % 3 === 0 ? random() : c % 3 === 1 ? Math.floor(random() * 2000) : 80e9])),
  }));
}

function storeSeconds(file: string, samples: readonly Sample[]): number {
  const store = openStore(file, { mode: "write", flushRows: ROWS_PER_TRANSACTION });
  const begin = performance.now();
  for (let at = 0; at < samples.length; at += ROWS_PER_TRANSACTION)
    store.sink.samples(source, samples.slice(at, at + ROWS_PER_TRANSACTION));
  store.sink.flush();
  const seconds = (performance.now() - begin) / 1000;
  store.close();
  return seconds;
}

function peerSeconds(file: string, samples: readonly Sample[]): number {
  const db = new Database(file);
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = NORMAL");
  const columns = ["ts_us", "entity", "source", "epoch", ...names];
  db.exec(`CREATE TABLE sample (ts_us INTEGER NOT NULL, entity INTEGER NOT NULL, source INTEGER NOT NULL, epoch INTEGER NOT NULL,
    ${names.map((n) => `${n} REAL`).join(", ")}, PRIMARY KEY (ts_us, entity, source)) STRICT, WITHOUT ROWID`);
  const insert = db.prepare(`INSERT INTO sample (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`);
  const ids = new Map(gpus.map((gpu, i) => [gpu.key, i + 1]));
  const write = db.transaction((batch: readonly Sample[]) => {
    for (const s of batch) insert.run([s.ts_us, ids.get(s.entity.key), 1, s.epoch, ...names.map((n) => s.values[n])]);
  });
  const begin = performance.now();
  for (let at = 0; at < samples.length; at += ROWS_PER_TRANSACTION) write(samples.slice(at, at + ROWS_PER_TRANSACTION));
  const seconds = (performance.now() - begin) / 1000;
  db.close();
  return seconds;
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "whyslow-bench-"));
try {
  const samples = makeSamples();
  const ours: number[] = [];
  const peer: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    peer.push(peerSeconds(path.join(folder, `peer${round}.db`), samples));
    ours.push(storeSeconds(path.join(folder, `ours${round}.db`), samples));
  }
  const rate = (seconds: number): string => `${Math.round(ROWS / seconds).toLocaleString("en")} rows/s`;
  const ratio = median(ours.map((s, i) => peer[i]! / s));
  const cpu = os.cpus();
  console.log(`${new Date().toISOString()}  ${cpu[0]?.model ?? "unknown CPU"}, ${cpu.length} cores, Node ${process.versions.node}`);
  console.log(`${ROWS} rows of 24 columns, ${ROWS_PER_TRANSACTION} a transaction, ${ROUNDS} rounds in turns, medians`);
  console.log(`plain SQLite, one statement a row  ${rate(median(peer))}`);
  console.log(`whyslow's sink                     ${rate(median(ours))}`);
  console.log(`ratio                              ${ratio.toFixed(2)} (to reach: ${REACH})`);
} finally {
  fs.rmSync(folder, { recursive: true, force: true });
}
