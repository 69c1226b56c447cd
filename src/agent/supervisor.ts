import type { AgentConfig } from "../../schemas/agent-config.js";
import type { Collector, Detection, Reading } from "../../schemas/collector.js";
import type { SourceSpec } from "../../schemas/samples.js";
import type { Sink } from "../../schemas/sink.js";
import type { LatestValues } from "../export/latest-values.js";
import { systemTimers, type Timers, withDeadline } from "../platform/timers.js";
import { type ContextParts, type ContextSettings, createContext } from "./collector-context.js";
import { type CollectorState, countRejected, newCollectorState } from "./collector-state.js";
import { startPollRunner } from "./poll-runner.js";
import { messageOf, type Runner, type RunnerDeps } from "./runner.js";
import { startStreamRunner } from "./stream-runner.js";

/** A look for a source may start a program that initialises a driver. */
const DETECT_TIMEOUT_MS = 5000;

export interface SupervisorDeps {
  readonly collectors: readonly Collector[];
  readonly config: AgentConfig;
  readonly parts: ContextParts;
  readonly sink: Sink;
  readonly latest: LatestValues;
  readonly timers?: Timers;
}

export interface Supervisor {
  readonly states: readonly CollectorState[];
  /** Looks for the sources of all collectors that do not run yet, and starts those that were found. Never rejects. */
  look(): Promise<void>;
  stop(): Promise<void>;
}

interface Member {
  readonly collector: Collector;
  readonly state: CollectorState;
  readonly settings: ContextSettings;
  readonly forced: boolean;
  runner: Runner | null;
}

/** The settings of a collector: the configuration's, else its own defaults. */
export function settingsOf(collector: Collector, config: AgentConfig): ContextSettings & { readonly enabled: boolean | undefined } {
  const given = config.collectors[collector.name];
  return {
    state: newCollectorState(collector.name, collector.mode, given?.interval_ms ?? collector.default_interval_ms),
    timeoutMs: given?.timeout_ms ?? collector.default_timeout_ms,
    url: given?.url ?? collector.default_url ?? null,
    enabled: given?.enabled,
  };
}

/** Whether a collector's source is there. Never rejects, never takes longer than its deadline and what a killed program takes to die. */
export async function detect(
  collector: Collector,
  parts: ContextParts,
  settings: ContextSettings,
  timers = systemTimers,
): Promise<Detection> {
  const controller = new AbortController();
  const { ctx, dispose } = createContext(collector, parts, settings, controller.signal);
  const limitMs = Math.max(DETECT_TIMEOUT_MS, settings.timeoutMs);
  const late: Detection = { found: false, text: `no answer within ${limitMs / 1000} s` };
  try {
    return await withDeadline(collector.detect(ctx), limitMs, late, timers);
  } catch (error) {
    return { found: false, text: messageOf(error) };
  } finally {
    controller.abort();
    await dispose();
  }
}

/** Runs the collectors: each on its own, all on one tick grid. */
export function createSupervisor(deps: SupervisorDeps): Supervisor {
  const { config, parts, sink, latest } = deps;
  const timers = deps.timers ?? systemTimers;
  // The grid lies on whole seconds of the wall clock, so that the samples of different nodes fall together.
  const alignMs = timers.nowMs() - (parts.clock.wallUs() % 60e6) / 1000;
  let stopped = false;
  const members: Member[] = deps.collectors.map((collector) => {
    const settings = settingsOf(collector, config);
    if (settings.enabled === false) settings.state.status = "off";
    return { collector, state: settings.state, settings, forced: settings.enabled === true, runner: null };
  });

  const start = (member: Member): void => {
    const { collector, state, settings } = member;
    const source: SourceSpec = {
      name: collector.name,
      node: parts.node,
      run: null,
      interval_ms: state.intervalMs,
      window_ms: collector.window_ms,
      lag_ms: collector.lag_ms,
    };
    const runnerDeps: RunnerDeps = {
      state,
      timeoutMs: settings.timeoutMs,
      alignMs,
      timers,
      clock: parts.clock,
      log: parts.log,
      context: (signal) => createContext(collector, parts, settings, signal),
      accept: (reading) => store(reading, source, state),
    };
    state.status = "running";
    member.runner = collector.mode === "poll" ? startPollRunner(collector, runnerDeps) : startStreamRunner(collector, runnerDeps);
  };

  const store = (reading: Reading, source: SourceSpec, state: CollectorState): void => {
    if (reading.samples.length > 0) {
      sink.samples(source, reading.samples);
      latest.take(source.name, state.intervalMs, reading.samples);
    }
    if (reading.series?.length) sink.series(source, reading.series);
    if (reading.marks?.length) sink.marks(reading.marks);
    if (reading.manifest) sink.manifest(null, reading.manifest);
    for (const reason in reading.rejected) {
      const count = reading.rejected[reason]!;
      sink.rejected(source, reason, count);
      countRejected(state, reason, count);
    }
  };

  return {
    states: members.map((member) => member.state),
    async look() {
      await Promise.all(
        members
          .filter((member) => member.state.status === "waiting")
          .map(async (member) => {
            member.state.detection = await detect(member.collector, parts, member.settings, timers);
            if (!stopped && (member.forced || member.state.detection.found)) start(member);
          }),
      );
    },
    async stop() {
      stopped = true;
      await Promise.all(members.flatMap((member) => (member.runner ? [member.runner.stop()] : [])));
    },
  };
}
