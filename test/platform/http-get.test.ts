import http from "node:http";
import type net from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { createHttpClient } from "../../src/platform/http-get.js";

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

async function serve(handler: http.RequestListener): Promise<string> {
  const server = http.createServer(handler);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  open.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as net.AddressInfo).port}`;
}

const client = (): ReturnType<typeof createHttpClient> => {
  const one = createHttpClient();
  open.push(() => one.close());
  return one;
};
const base = { timeoutMs: 20_000, wallUs: () => Date.now() * 1000 };

describe("createHttpClient", () => {
  it("gives status, body and times, and keeps the connection", async () => {
    const sockets = new Set<net.Socket>();
    const url = await serve((req, res) => {
      sockets.add(req.socket);
      res.end(`accept ${req.headers.accept}`);
    });
    const http = client();
    const result = await http.get(url, { ...base, accept: "text/plain" });
    expect(result).toMatchObject({ status: 200, body: "accept text/plain", truncated: false });
    expect(result.end_us).toBeGreaterThanOrEqual(result.start_us);
    await http.get(url, base);
    expect(sockets.size).toBe(1);
  });

  it("takes any status for an answer and follows one redirect", async () => {
    const url = await serve((req, res) => {
      if (req.url === "/metrics") res.writeHead(307, { location: "/metrics/" }).end();
      else if (req.url === "/metrics/") res.end("page");
      else if (req.url === "/loop") res.writeHead(302, { location: "/loop" }).end();
      else res.writeHead(503).end("down");
    });
    const http = client();
    expect(await http.get(`${url}/metrics`, base)).toMatchObject({ status: 200, body: "page" });
    expect(await http.get(`${url}/x`, base)).toMatchObject({ status: 503, body: "down" });
    expect(await http.get(`${url}/loop`, base)).toMatchObject({ status: 302 });
  });

  it("gives a body that broke off as far as it came", async () => {
    const url = await serve((_req, res) => {
      res.writeHead(200, { "content-length": "1000" });
      res.write("first line\nsecond li", () => res.destroy());
    });
    expect(await client().get(url, base)).toMatchObject({ status: 200, truncated: true, body: "first line\nsecond li" });
  });

  it("cuts a body at the limit", async () => {
    const url = await serve((_req, res) => {
      const more = (): void => void res.write("x".repeat(10_000), () => setImmediate(more));
      more();
      res.on("error", () => {});
    });
    const result = await client().get(url, { ...base, maxBytes: 25_000 });
    expect(result.truncated).toBe(true);
    expect(result.body).toHaveLength(25_000);
  });

  it("rejects when nobody answers in time, at once or in the middle of the body", async () => {
    const silent = await serve(() => {});
    await expect(client().get(silent, { ...base, timeoutMs: 50 })).rejects.toThrow(/no answer within 50 ms/);
    const stuck = await serve((_req, res) => void res.write("begin"));
    await expect(client().get(stuck, { ...base, timeoutMs: 200 })).rejects.toThrow(/no answer within 200 ms/);
  });

  it("rejects when it is aborted or nobody listens", async () => {
    const silent = await serve(() => {});
    const controller = new AbortController();
    const waiting = client().get(silent, { ...base, signal: controller.signal });
    controller.abort();
    await expect(waiting).rejects.toThrow(/aborted/);
    await expect(client().get("http://127.0.0.1:1", base)).rejects.toThrow(/^connection refused$/);
    await expect(client().get("no url", base)).rejects.toThrow(/Invalid URL/);
  });

  it("tries again when a kept connection was closed by the other side", async () => {
    let answers = 0;
    const url = await serve((req, res) => {
      answers++;
      // The second request on the same connection finds it gone.
      if (answers === 2) req.socket.destroy();
      else res.end("here");
    });
    const http = client();
    await http.get(url, base);
    expect((await http.get(url, base)).body).toBe("here");
    expect(answers).toBe(3);
  });
});
