import type { SpikeCounters } from "../../export/spike-families.js";
import type { Logger } from "../../platform/logger.js";
import { startPeriodic } from "../../platform/scheduler.js";
import { systemTimers, type Timers } from "../../platform/timers.js";
import { episodeLine } from "../../report/episode-line.js";
import type { JudgedEpisode } from "../../store/open-store.js";
import { messageOf } from "../runner.js";
import type { ActivityWatch } from "./activity-watch.js";
import { type LedgerStep, type LiveEpisode, LiveLedger } from "./live-ledger.js";
import type { LivePass, PassRange } from "./live-pass.js";

/** Judges a range away from this thread; rejects when it cannot. */
export interface Judge {
  pass(range: PassRange): Promise<LivePass>;
  stop(): Promise<void>;
}

export interface LiveHealth {
  readonly passes: number;
  readonly failures: number;
  /** Of the last pass; null before the first. */
  readonly durationMs: number | null;
}

export interface LiveLoopDeps {
  readonly judge: Judge;
  readonly watch: ActivityWatch;
  readonly counters: SpikeCounters;
  readonly log: Logger;
  /** What was final before a restart, as far back as a pass looks. */
  readonly stored: readonly LiveEpisode[];
  wallUs(): number;
  /** Makes what is buffered readable. */
  commit(): void;
  keep(judged: readonly JudgedEpisode[]): void;
  readonly timers?: Timers;
}

export interface LiveLoop {
  readonly health: LiveHealth;
  /** Found and not final yet, by start. */
  provisional(): readonly LiveEpisode[];
  /** Final of late; they are in the store too, after the next commit. */
  recent(): readonly LiveEpisode[];
  stop(): Promise<void>;
}

/** What a pass looks back over at most and at least. */
export const WINDOW_US = 600e6;
const MIN_WINDOW_US = 120e6;
/** How often it is asked whether a pass is due; the question costs next to nothing. */
const ASK_MS = 1000;
const MIN_GAP_MS = 5000;
const MAX_GAP_MS = 60_000;
/** A pass may use one part in so many of the time of a core; a hang does not wait for that. */
const DUTY = 100;
/** A pass that takes longer looks back over half as much next time; a quick one over twice as much again. */
const LONG_PASS_MS = 5000;
const SHORT_PASS_MS = 1000;
const RECENT = 100;

/**
 * Judges the last minutes of the store again and again, with the same function as the post-mortem. A pass is due when requests have
 * ended since the last one, while a server hangs, and when a provisional episode can become final: an idle node costs no pass.
 */
export function startLiveLoop(deps: LiveLoopDeps): LiveLoop {
  const timers = deps.timers ?? systemTimers;
  const ledger = new LiveLedger(deps.stored);
  const health = { passes: 0, failures: 0, durationMs: null as number | null };
  let recent: LiveEpisode[] = [];
  let windowUs = WINDOW_US;
  /** What the watch said at the last pass. The first pass is due at once: the agent before may have left something unfinished. */
  let seen = -1;
  let begun = Number.NEGATIVE_INFINITY;
  let notBefore = Number.NEGATIVE_INFINITY;
  let stopped = false;
  let current: Promise<void> = Promise.resolve();

  const isDue = (): boolean => {
    const now = timers.nowMs();
    if (deps.watch.hangs(deps.wallUs())) return now - begun >= MIN_GAP_MS;
    return now >= notBefore && (deps.watch.revision !== seen || deps.wallUs() >= ledger.dueAt_us);
  };

  const tell = ({ final, fresh }: LedgerStep): void => {
    for (const { episode } of fresh)
      if (episode.basis === "telemetry") deps.log.warn({ episode: episode.id, class: episode.class, final: false }, episodeLine(episode));
    for (const one of final) {
      deps.counters.add(one);
      deps.log.info({ episode: one.episode.id, class: one.episode.class, final: true }, episodeLine(one.episode));
    }
    if (final.length === 0) return;
    deps.keep(final);
    recent = [...recent, ...final].slice(-RECENT);
  };

  const pass = async (): Promise<void> => {
    begun = timers.nowMs();
    seen = deps.watch.revision;
    let tookMs: number;
    try {
      deps.commit();
      const to_us = deps.wallUs();
      const result = await deps.judge.pass({ from_us: to_us - windowUs, to_us });
      if (stopped) return;
      tookMs = result.took_ms;
      health.passes++;
      tell(ledger.take(result));
      deps.counters.open(ledger.provisional.map((one) => one.episode));
    } catch (error) {
      if (stopped) return;
      health.failures++;
      tookMs = LONG_PASS_MS + 1;
      deps.log.warn({ window_s: windowUs / 1e6 }, `live judging failed: ${messageOf(error)}`);
    }
    health.durationMs = timers.nowMs() - begun;
    if (tookMs > LONG_PASS_MS) windowUs = Math.max(MIN_WINDOW_US, windowUs / 2);
    else if (tookMs < SHORT_PASS_MS) windowUs = Math.min(WINDOW_US, windowUs * 2);
    notBefore = begun + Math.min(MAX_GAP_MS, Math.max(MIN_GAP_MS, DUTY * tookMs));
  };

  const task = startPeriodic({
    intervalMs: ASK_MS,
    timers,
    onError: (error) => deps.log.error({ error: String(error) }, "live judging failed"),
    async run() {
      if (!isDue()) return;
      current = pass();
      await current;
    },
  });
  return {
    health,
    provisional: () => ledger.provisional,
    recent: () => recent,
    async stop() {
      stopped = true;
      task.stop();
      await deps.judge.stop();
      await current;
    },
  };
}
