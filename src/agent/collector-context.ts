import type { Clock, Collector, CollectorContext, LineStream, ServerTarget } from "../../schemas/collector.js";
import type { HttpClient } from "../platform/http-get.js";
import type { Logger } from "../platform/logger.js";
import { runProgram, streamProgram } from "../platform/subprocess.js";
import { type CollectorState, countRejected } from "./collector-state.js";
import type { OwnedContext } from "./runner.js";

export interface ContextParts {
  readonly node: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly http: HttpClient;
  readonly roots: { readonly proc: string; readonly sys: string };
  /** The servers known at the moment of the attempt. */
  readonly servers: () => readonly ServerTarget[];
  /** Added to the environment of programs. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface ContextSettings {
  readonly state: CollectorState;
  readonly timeoutMs: number;
  readonly url: string | null;
}

/** The only things that a collector may touch, for one attempt. Programs that it started end with the attempt. */
export function createContext(collector: Collector, parts: ContextParts, settings: ContextSettings, signal: AbortSignal): OwnedContext {
  const { clock, env } = parts;
  const streams = new Set<LineStream>();
  const ctx: CollectorContext = {
    node: parts.node,
    clock,
    signal,
    log: parts.log.child({ collector: collector.name }),
    roots: parts.roots,
    interval_ms: settings.state.intervalMs,
    timeout_ms: settings.timeoutMs,
    url: settings.url,
    servers: parts.servers(),
    run: (program, args, options) => runProgram(program, args, { timeoutMs: options?.timeout_ms ?? settings.timeoutMs, signal, env }),
    stream(program, args) {
      const stream = streamProgram(program, args, {
        wallUs: () => clock.wallUs(),
        signal,
        env,
        onDropped: (reason, count) => countRejected(settings.state, reason, count),
      });
      streams.add(stream);
      void stream.ended.then(() => streams.delete(stream));
      return stream;
    },
    http: (url, options) =>
      parts.http.get(url, {
        timeoutMs: options?.timeout_ms ?? settings.timeoutMs,
        signal,
        wallUs: () => clock.wallUs(),
        ...(options?.accept === undefined ? {} : { accept: options.accept }),
        ...(options?.max_bytes === undefined ? {} : { maxBytes: options.max_bytes }),
      }),
  };
  return {
    ctx,
    async dispose() {
      await Promise.all([...streams].map((stream) => stream.kill()));
    },
  };
}
