import type { CollectorContext, HttpResult, Reading, ServerTarget } from "../../schemas/collector.js";

/** What a GET of one URL answers: a page, an answer with a status, or a failure. */
export type Answer = string | { readonly status?: number; readonly body?: string; readonly truncated?: boolean } | Error;

export const START_US = 1_788_404_000_000_000;

/** A context whose pages come from a script and whose clock moves by one second a poll. */
export function pageContext(options: { servers?: readonly ServerTarget[]; url?: string } = {}) {
  const pages = new Map<string, Answer>();
  const asked: { url: string; accept: string | undefined }[] = [];
  let nowUs = START_US;
  const ctx: CollectorContext = {
    node: "node-x",
    clock: { wallUs: () => nowUs, monoUs: () => nowUs, epoch: () => 3 },
    signal: new AbortController().signal,
    log: { debug: () => undefined, info: () => undefined, warn: () => undefined },
    roots: { proc: "/nowhere", sys: "/nowhere" },
    interval_ms: 1000,
    timeout_ms: 1000,
    url: options.url ?? null,
    servers: options.servers ?? [],
    run: () => Promise.reject(new Error("no programs here")),
    stream: () => {
      throw new Error("no programs here");
    },
    http: (url, { accept } = {}) => {
      asked.push({ url, accept });
      const answer = pages.get(url) ?? new Error(`GET ${url} failed: connect ECONNREFUSED`);
      if (answer instanceof Error) return Promise.reject(answer);
      const { status = 200, body = "", truncated = false } = typeof answer === "string" ? { body: answer } : answer;
      const result: HttpResult = { status, body, truncated, start_us: nowUs, end_us: nowUs + 20_000, duration_ms: 20 };
      return Promise.resolve(result);
    },
  };
  return {
    ctx,
    asked,
    /** Sets what a URL answers from now on. */
    answer: (url: string, answer: Answer) => pages.set(url, answer),
    /** Polls, one second after the last time. */
    poll: async (instance: { poll(ctx: CollectorContext): Promise<Reading> }): Promise<Reading> => {
      nowUs += 1_000_000;
      return instance.poll(ctx);
    },
    wait: (seconds: number) => {
      nowUs += seconds * 1e6;
    },
  };
}
