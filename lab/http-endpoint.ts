import http from "node:http";
import type { AddressInfo } from "node:net";

export interface Endpoint {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/** Serves on a free loopback port. A handler that throws answers 500 and keeps the server alive. */
export async function serveHttp(
  handle: (request: http.IncomingMessage, response: http.ServerResponse, body: string) => void | Promise<void>,
): Promise<Endpoint> {
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      Promise.resolve()
        .then(() => handle(request, response, Buffer.concat(chunks).toString()))
        .catch((error: unknown) => {
          if (!response.headersSent) response.writeHead(500);
          response.end(`${error instanceof Error ? error.message : String(error)}\n`);
        });
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
