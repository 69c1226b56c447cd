import type Database from "better-sqlite3";
import { parseIso } from "../time/iso-time.js";
import type { JudgedEpisode } from "./store-types.js";

/** Writes episodes and their spikes once: a row that is there already stays as it is. */
export class VerdictWriter {
  private readonly episode: Database.Statement;
  private readonly spike: Database.Statement;

  constructor(db: Database.Database) {
    this.episode = db.prepare(
      `INSERT OR IGNORE INTO episode (run, id, start_us, end_us, metric, class, cause, driver, confidence, requests, excess_ms, body)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.spike = db.prepare(
      `INSERT OR IGNORE INTO spike (run, request_id, metric, start_us, end_us, observed_ms, expected_ms, excess_ms, class, cause,
       confidence, episode, censored) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
  }

  write(run: string, { episode: e, spikes }: JudgedEpisode): void {
    const from = parseIso(e.start);
    const to = parseIso(e.end);
    if (from === null || to === null) return;
    const body = JSON.stringify(e);
    this.episode.run(run, e.id, from, to, e.metric, e.class, e.cause, e.driver, e.confidence, e.requests, e.excess_ms, body);
    for (const s of spikes) {
      const figures = [s.observed_ms, s.expected_ms, s.excess_ms, s.class, s.cause, s.confidence, s.episode, Number(s.censored)];
      this.spike.run(run, s.request_id, s.metric, parseIso(s.start), parseIso(s.end), ...figures);
    }
  }
}
