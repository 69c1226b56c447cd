import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CollectorContext, CommandResult, HttpResult, LineStream } from "../../schemas/collector.js";

export interface World {
  /** Body of every page; null = nobody listens. */
  readonly page?: (url: string) => string | null;
  readonly status?: number;
  /** Output of every program; null = it is not installed. */
  readonly output?: string | null;
  /** Real or fixture roots; default: folders that are not there. */
  readonly roots?: { readonly proc: string; readonly sys: string };
  readonly servers?: CollectorContext["servers"];
  /** Programs that stream stay silent until they are killed. */
  readonly hang?: boolean;
}

export interface FakeContext {
  readonly ctx: CollectorContext;
  readonly abort: () => void;
  /** Streams that were started and not killed or ended. */
  readonly open: () => number;
}

const ended = (output: string | null): CommandResult => ({
  stdout: output ?? "",
  stderr: "",
  exitCode: output === null ? null : 0,
  timedOut: false,
  notFound: output === null,
});

/** A node on which things are as `world` says; by default nothing is there at all. */
export function fakeContext(world: World = {}): FakeContext {
  const controller = new AbortController();
  const empty = join(tmpdir(), `whyslow-nothing-is-here-${process.pid}`);
  let open = 0;

  const stream = (): LineStream => {
    open++;
    let finish: () => void = () => undefined;
    const over = new Promise<void>((resolve) => {
      finish = () => {
        open--;
        finish = () => undefined;
        resolve();
      };
    });
    async function* lines() {
      for (const text of (world.output ?? "").split("\n").filter((t) => t !== "")) yield { text, received_us: Date.now() * 1000 };
      if (world.hang === true) await over;
      finish();
    }
    if (world.hang === true) controller.signal.addEventListener("abort", () => finish(), { once: true });
    return {
      lines: lines(),
      ended: over.then(() => ended(world.output ?? null)),
      kill: async () => finish(),
    };
  };

  const ctx: CollectorContext = {
    node: "node-x",
    clock: { wallUs: () => Math.round(Date.now() * 1000), monoUs: () => Math.round(performance.now() * 1000), epoch: () => 0 },
    signal: controller.signal,
    log: { debug: () => undefined, info: () => undefined, warn: () => undefined },
    roots: world.roots ?? { proc: join(empty, "proc"), sys: join(empty, "sys") },
    interval_ms: 1000,
    timeout_ms: 500,
    url: null,
    servers: world.servers ?? [],
    run: () => Promise.resolve(ended(world.output ?? null)),
    stream,
    http: (url) => {
      const body = world.page?.(url) ?? null;
      if (body === null || controller.signal.aborted) return Promise.reject(new Error(`GET ${url} failed`));
      const now = Math.round(Date.now() * 1000);
      const result: HttpResult = { status: world.status ?? 200, body, truncated: false, start_us: now, end_us: now, duration_ms: 1 };
      return Promise.resolve(result);
    },
  };
  return { ctx, abort: () => controller.abort(), open: () => open };
}
