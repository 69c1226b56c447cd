import http from "node:http";
import https from "node:https";
import type { HttpResult } from "../../schemas/collector.js";

export interface HttpGetOptions {
  /** Deadline for all of it, a redirect included. */
  readonly timeoutMs: number;
  readonly maxBytes?: number;
  readonly accept?: string;
  readonly signal?: AbortSignal;
  /** Wall clock in µs. */
  readonly wallUs: () => number;
}

export interface HttpClient {
  /**
   * GET with a deadline. Follows one redirect. Any HTTP status is an answer; a body that broke off or reached `maxBytes` is
   * given as far as it came, with `truncated`. Rejects when there is no answer: no connection, no headers, or too late.
   */
  get(url: string, options: HttpGetOptions): Promise<HttpResult>;
  close(): void;
}

const DEFAULT_MAX_BYTES = 32 * 1024 * 1024;

/** A client that keeps its connections open between the polls of the same target. */
export function createHttpClient(): HttpClient {
  const agents = {
    "http:": new http.Agent({ keepAlive: true, maxSockets: 4 }),
    "https:": new https.Agent({ keepAlive: true, maxSockets: 4 }),
  };
  return {
    async get(url, options) {
      const startUs = options.wallUs();
      const start = performance.now();
      const late = AbortSignal.timeout(Math.max(1, Math.ceil(options.timeoutMs)));
      const signal = options.signal ? AbortSignal.any([late, options.signal]) : late;
      const finish = (answer: Answer): HttpResult => ({
        status: answer.status,
        body: answer.body,
        truncated: answer.truncated,
        start_us: startUs,
        end_us: options.wallUs(),
        duration_ms: performance.now() - start,
      });
      try {
        const first = await getOnce(new URL(url), options, signal, agents);
        if (first.location === null) return finish(first);
        const target = new URL(first.location, url);
        if (target.protocol !== "http:" && target.protocol !== "https:") return finish(first);
        return finish(await getOnce(target, options, signal, agents));
      } catch (error) {
        if (options.signal?.aborted) throw new Error("aborted", { cause: error });
        if (late.aborted) throw new Error(`no answer within ${Math.round(options.timeoutMs)} ms`, { cause: error });
        throw new Error(reason(error), { cause: error });
      }
    },
    close() {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

/** In words where the system has only a name; the caller knows the address. */
function reason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "ECONNREFUSED") return "connection refused";
  if (code === "ECONNRESET") return "connection closed without an answer";
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return "the host's name is not known";
  return message || String(code);
}

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly truncated: boolean;
  readonly location: string | null;
}

type Agents = Readonly<Record<"http:" | "https:", http.Agent>>;

async function getOnce(url: URL, options: HttpGetOptions, signal: AbortSignal, agents: Agents): Promise<Answer> {
  try {
    return await request(url, options, signal, agents);
  } catch (error) {
    // A kept connection may have been closed by the other side just now: that says nothing about the target.
    if (!(error instanceof StaleConnection) || signal.aborted) throw error;
    return await request(url, options, signal, agents);
  }
}

class StaleConnection extends Error {}

function request(url: URL, options: HttpGetOptions, signal: AbortSignal, agents: Agents): Promise<Answer> {
  const protocol = url.protocol === "https:" ? "https:" : "http:";
  const maxBytes = options.maxBytes ?? DEFAULT_MAX_BYTES;
  return new Promise((resolve, reject) => {
    const outgoing = (protocol === "https:" ? https : http).get(
      url,
      {
        agent: agents[protocol],
        signal,
        headers: { accept: options.accept ?? "*/*", "accept-encoding": "identity", "user-agent": "whyslow" },
      },
      (incoming) => {
        const status = incoming.statusCode ?? 0;
        const location = status >= 300 && status < 400 ? (incoming.headers.location ?? null) : null;
        const pieces: Buffer[] = [];
        let bytes = 0;
        let done = false;
        const end = (truncated: boolean): void => {
          if (done) return;
          done = true;
          resolve({ status, body: Buffer.concat(pieces).toString("utf8"), truncated, location });
        };
        incoming.on("data", (piece: Buffer) => {
          const room = maxBytes - bytes;
          bytes += piece.length;
          if (!done) pieces.push(piece.length > room ? piece.subarray(0, Math.max(0, room)) : piece);
          if (bytes > maxBytes) {
            end(true);
            outgoing.destroy();
          }
        });
        incoming.on("end", () => end(false));
        incoming.on("error", (error) => (signal.aborted ? reject(error) : end(true)));
      },
    );
    outgoing.on("error", (error: NodeJS.ErrnoException) => {
      const stale = outgoing.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE");
      reject(stale ? new StaleConnection(error.message) : error);
    });
  });
}
