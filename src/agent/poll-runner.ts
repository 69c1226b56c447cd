import type { PollCollector, Reading } from "../../schemas/collector.js";
import { createBackoff } from "../platform/backoff.js";
import { startPeriodic } from "../platform/scheduler.js";
import { withDeadline } from "../platform/timers.js";
import { acceptReading, BACKOFF_CAP_MS, messageOf, noteFailure, type Runner, type RunnerDeps, STOP_GRACE_MS } from "./runner.js";

/** A collector's own deadlines (its HTTP GET, its program) come first and say more; this one is for what forgets them. */
const DEADLINE_SLACK_MS = 250;

const LATE = Symbol("late");

/**
 * Polls at the points of the common grid. A poll beyond its deadline is aborted and counted; one that does not even end then is
 * left to itself and a new instance goes on. After failures in a row the polls become rarer, up to one a minute.
 */
export function startPollRunner(collector: PollCollector, deps: RunnerDeps): Runner {
  const { state, timers } = deps;
  const backoff = createBackoff(state.intervalMs, Math.max(BACKOFF_CAP_MS, state.intervalMs));
  let instance = collector.start();
  let notBeforeMs = Number.NEGATIVE_INFINITY;
  let stopped = false;
  let current: { controller: AbortController; done: Promise<void> } | null = null;

  const poll = async (controller: AbortController): Promise<void> => {
    const { ctx, dispose } = deps.context(controller.signal);
    const begin = timers.nowMs();
    state.attempts++;
    let failure: string | null = null;
    try {
      const attempt = (async (): Promise<Reading> => await instance.poll(ctx))();
      const outcome = await withDeadline(attempt, deps.timeoutMs + DEADLINE_SLACK_MS, LATE, timers);
      if (outcome !== LATE) {
        if (!controller.signal.aborted) acceptReading(deps, outcome);
      } else {
        state.timeouts++;
        failure = `no reading within ${deps.timeoutMs} ms`;
        controller.abort();
        const settled = attempt.then(
          () => true,
          () => true,
        );
        if (!(await withDeadline(settled, STOP_GRACE_MS, false, timers))) {
          state.restarts++;
          instance = collector.start();
        }
      }
    } catch (error) {
      failure = messageOf(error);
    }
    state.durationMs = timers.nowMs() - begin;
    await dispose();
    if (stopped) return;
    if (failure === null) backoff.succeeded();
    else {
      noteFailure(deps, failure);
      // The wait counts from the poll's start: the first failure costs no tick.
      notBeforeMs = begin + backoff.failed();
    }
  };

  const task = startPeriodic({
    intervalMs: state.intervalMs,
    alignMs: deps.alignMs,
    timers,
    onError: (error) => noteFailure(deps, messageOf(error)),
    async run(tick) {
      state.missed += tick.missed;
      if (timers.nowMs() < notBeforeMs - 1) {
        state.missed++;
        return;
      }
      const controller = new AbortController();
      const done = poll(controller);
      current = { controller, done };
      await done;
    },
  });
  return {
    async stop() {
      stopped = true;
      task.stop();
      current?.controller.abort();
      await withDeadline(current?.done ?? Promise.resolve(), 2 * STOP_GRACE_MS, undefined, timers);
    },
  };
}
