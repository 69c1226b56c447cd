import path from "node:path";
import { closeReader, connectReader, connectWriter } from "./connection.js";
import { ReadOnlySink } from "./read-only-sink.js";
import { SqliteReader } from "./sqlite-reader.js";
import { SqliteRuns } from "./sqlite-runs.js";
import { SqliteVerdicts } from "./sqlite-verdicts.js";
import { BufferedSink } from "./store-sink.js";
import type { OpenOptions, Store } from "./store-types.js";

export type {
  EpisodeTotal,
  JudgedEpisode,
  OpenOptions,
  RejectedCount,
  RunStore,
  Selection,
  SinkHealth,
  SpikeTotal,
  Store,
  StoreReader,
  StoreSink,
  VerdictReader,
} from "./store-types.js";

const FLUSH_ROWS = 20_000;
const BUFFERED_FLUSHES = 10;
const WAIT_DAEMON_MS = 1000;
/** Two imports at once take turns, which may last. */
const WAIT_COMMAND_MS = 60_000;
const WAIT_READER_MS = 5000;

/**
 * Opens the database. Write mode makes its folder and brings an older schema forward; read mode sees a consistent snapshot beside a
 * writer. Throws DB_OPEN, DB_VERSION or DB_CORRUPT.
 */
export function openStore(file: string, options: OpenOptions): Store {
  const full = path.resolve(file);
  const wallUs = options.wallUs ?? (() => Date.now() * 1000);
  const interval = options.flushIntervalMs ?? null;
  const writes = options.mode === "write";
  const wait = options.busyTimeoutMs ?? (!writes ? WAIT_READER_MS : interval === null ? WAIT_COMMAND_MS : WAIT_DAEMON_MS);
  const db = writes ? connectWriter(full, wait, options.create ?? true) : connectReader(full, wait);
  const runs = new SqliteRuns(db, full, wallUs);
  const read = new SqliteReader(db, full, (id) => runs.require(id), wallUs);
  const verdicts = new SqliteVerdicts(db, full);
  if (!writes) return { file: full, sink: new ReadOnlySink(full), runs, read, verdicts, close: () => closeReader(db) };
  const flushRows = options.flushRows ?? FLUSH_ROWS;
  const sink = new BufferedSink(db, {
    file: full,
    flushIntervalMs: interval,
    flushRows,
    maxBufferedRows: options.maxBufferedRows ?? flushRows * BUFFERED_FLUSHES,
    wallUs,
    keepRanges: options.keepRanges ?? false,
  });
  const close = (): void => {
    if (!db.open) return;
    sink.stop();
    try {
      sink.flush();
    } finally {
      db.close();
    }
  };
  return { file: full, sink, runs, read, verdicts, close };
}
