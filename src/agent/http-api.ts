import http from "node:http";
import type net from "node:net";
import type { ListenAddress } from "../../schemas/agent-config.js";
import { AppError } from "../../schemas/error-codes.js";
import { portOwner } from "./port-owner.js";

export interface Answer {
  readonly status: number;
  readonly type: "text" | "json" | "exposition" | "html";
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Route {
  readonly path: string;
  /** One line for the list of routes. */
  readonly help: string;
  answer(query: URLSearchParams): Answer | Promise<Answer>;
}

export interface HttpApi {
  /** `http://HOST:PORT` as it is listened on. */
  readonly url: string;
  /** Takes no more requests, lets the running ones end for a moment, closes. */
  stop(): Promise<void>;
}

const CONTENT_TYPES: Readonly<Record<Answer["type"], string>> = {
  text: "text/plain; charset=utf-8",
  json: "application/json; charset=utf-8",
  exposition: "text/plain; version=0.0.4; charset=utf-8",
  html: "text/html; charset=utf-8",
};
const STOP_GRACE_MS = 1000;

export const jsonAnswer = (value: unknown, status = 200): Answer => ({ status, type: "json", body: `${JSON.stringify(value)}\n` });
export const jsonError = (status: number, code: string, text: string): Answer => jsonAnswer({ error: { code, text } }, status);

/** Serves the routes, read only: GET and HEAD. @throws AppError PORT_IN_USE, with who has the port where that can be seen. */
export async function startHttpApi(
  listen: NonNullable<ListenAddress>,
  routes: readonly Route[],
  onError: (error: unknown) => void,
): Promise<HttpApi> {
  const byPath = new Map(routes.map((route) => [route.path, route]));
  const server = http.createServer({ requestTimeout: 10_000, headersTimeout: 5000, maxHeaderSize: 8192 }, (request, response) => {
    void answerRequest(request, byPath, onError).then((answer) => send(request, response, answer));
  });
  server.maxConnections = 256;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(listenError("the agent's HTTP service", listen, error)));
    server.listen(listen.port, listen.host, resolve);
  });
  const { port } = server.address() as net.AddressInfo;
  return {
    url: `http://${listen.host.includes(":") ? `[${listen.host}]` : listen.host}:${port}`,
    stop: () =>
      new Promise((resolve) => {
        const timer = setTimeout(() => server.closeAllConnections(), STOP_GRACE_MS);
        server.close(() => {
          clearTimeout(timer);
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
}

/** One line for a port that cannot be had. */
export function listenError(what: string, listen: NonNullable<ListenAddress>, error: unknown): AppError {
  const where = `${listen.host}:${listen.port}`;
  const code = (error as NodeJS.ErrnoException).code;
  if (code !== "EADDRINUSE")
    return new AppError("PORT_IN_USE", `${what} cannot listen on ${where}: ${(error as Error).message}`, { cause: error });
  const owner = portOwner(listen.port);
  return new AppError("PORT_IN_USE", `${what} cannot listen on ${where}: the port is in use${owner ? ` by ${owner}` : ""}`, {
    mend: "stop that process, or set another address under `listen` in the configuration",
    cause: error,
  });
}

async function answerRequest(
  request: http.IncomingMessage,
  routes: ReadonlyMap<string, Route>,
  onError: (error: unknown) => void,
): Promise<Answer> {
  request.resume();
  let url: URL;
  try {
    url = new URL(request.url ?? "/", "http://agent");
  } catch {
    return { status: 400, type: "text", body: "this is no address\n" };
  }
  const route = routes.get(url.pathname);
  if (!route) return { status: 404, type: "text", body: `there is no ${url.pathname.slice(0, 200)} here; / lists what there is\n` };
  if (request.method !== "GET" && request.method !== "HEAD")
    return { status: 405, type: "text", body: "read only: GET and HEAD\n", headers: { allow: "GET, HEAD" } };
  try {
    return await route.answer(url.searchParams);
  } catch (error) {
    onError(error);
    return jsonError(500, "INTERNAL", error instanceof Error ? error.message : String(error));
  }
}

function send(request: http.IncomingMessage, response: http.ServerResponse, answer: Answer): void {
  const body = Buffer.from(answer.body);
  response.writeHead(answer.status, {
    ...answer.headers,
    "content-type": CONTENT_TYPES[answer.type],
    "content-length": body.length,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  });
  response.end(request.method === "HEAD" ? undefined : body);
}
