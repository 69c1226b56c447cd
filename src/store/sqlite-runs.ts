import type Database from "better-sqlite3";
import { AppError } from "../../schemas/error-codes.js";
import type { Run } from "../../schemas/runs.js";
import { nearestNames } from "./nearest-names.js";
import { checkRunName } from "./run-name.js";
import { storeError } from "./store-error.js";
import type { RunStore } from "./store-types.js";

/** Facts that the live agent knows now; they belong to no run. */
const LIVE = "";

interface RunRow {
  readonly id: string;
  readonly start_us: number | null;
  readonly end_us: number | null;
  readonly created_us: number;
}

export class SqliteRuns implements RunStore {
  constructor(
    private readonly db: Database.Database,
    private readonly file: string,
    private readonly wallUs: () => number,
  ) {}

  create(id: string): Run {
    checkRunName(id);
    this.write(() => this.insert(id));
    return this.get(id)!;
  }

  get(id: string): Run | null {
    const row = this.db.prepare<[string], RunRow>("SELECT * FROM run WHERE id = ?").get(id);
    return row ? { ...row, manifest: this.facts(id) } : null;
  }

  require(id: string): Run {
    const run = this.get(id);
    if (run) return run;
    const names = this.db.prepare<[], string>("SELECT id FROM run ORDER BY id").pluck().all();
    const near = nearestNames(id, names);
    const mend =
      names.length === 0
        ? "there are no runs yet: make one with `whyslow import` or `whyslow run start`"
        : near.length > 0
          ? `did you mean ${near.map((n) => `\`${n}\``).join(" or ")}?`
          : "`whyslow run list` shows those that are there";
    throw new AppError("RUN_UNKNOWN", `there is no run ${JSON.stringify(id)} in ${this.file}`, { mend });
  }

  list(): Run[] {
    const rows = this.db.prepare<[], RunRow>("SELECT * FROM run ORDER BY start_us IS NULL, start_us, id").all();
    return rows.map((row) => ({ ...row, manifest: this.facts(row.id) }));
  }

  start(id: string, tsUs: number): Run {
    checkRunName(id);
    const known = this.get(id);
    if (known && known.start_us !== null) {
      throw new AppError("USAGE", `the run ${JSON.stringify(id)} has started already`, { mend: "choose another name" });
    }
    this.write(() => {
      this.insert(id);
      this.db.prepare("UPDATE run SET start_us = ?, end_us = NULL WHERE id = ?").run(Math.round(tsUs), id);
      this.freeze(id);
    });
    return this.get(id)!;
  }

  stop(id: string, tsUs: number): Run {
    const known = this.require(id);
    const wrong = known.start_us === null ? "was never started" : known.end_us !== null ? "has ended already" : null;
    if (wrong) throw new AppError("USAGE", `the run ${JSON.stringify(id)} ${wrong}`, { mend: "`whyslow run list` shows the open runs" });
    this.write(() => {
      this.db.prepare("UPDATE run SET end_us = max(start_us, ?) WHERE id = ?").run(Math.round(tsUs), id);
      this.freeze(id);
    });
    return this.get(id)!;
  }

  extend(id: string, fromUs: number, toUs: number): Run {
    checkRunName(id);
    this.write(() => {
      this.insert(id);
      this.db
        .prepare("UPDATE run SET start_us = min(coalesce(start_us, @from), @from), end_us = max(coalesce(end_us, @to), @to) WHERE id = @id")
        .run({ id, from: Math.round(fromUs), to: Math.round(toUs) });
    });
    return this.get(id)!;
  }

  mergeManifest(id: string | null, facts: Readonly<Record<string, string>>): void {
    if (id !== null) checkRunName(id);
    const put = this.db.prepare("INSERT INTO manifest (run, key, value) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value");
    this.write(() => {
      if (id !== null) this.insert(id);
      for (const [key, value] of Object.entries(facts)) put.run(id ?? LIVE, key, value);
    });
  }

  private insert(id: string): void {
    this.db.prepare("INSERT OR IGNORE INTO run (id, created_us) VALUES (?, ?)").run(id, this.wallUs());
  }

  /** A run keeps what was known at its start and end, whatever changes on the node later. */
  private freeze(id: string): void {
    this.db.prepare("INSERT OR IGNORE INTO manifest (run, key, value) SELECT ?, key, value FROM manifest WHERE run = ?").run(id, LIVE);
  }

  private facts(id: string): Record<string, string> {
    const rows = this.db.prepare<[string], [string, string]>("SELECT key, value FROM manifest WHERE run = ? ORDER BY key").raw().all(id);
    return Object.fromEntries(rows);
  }

  private write(body: () => void): void {
    try {
      this.db.transaction(body).immediate();
    } catch (error) {
      throw storeError(error, this.file, "write");
    }
  }
}
