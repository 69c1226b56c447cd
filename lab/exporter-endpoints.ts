import { type Endpoint, serveHttp } from "./http-endpoint.js";
import type { LiveNode } from "./live-node.js";
import { exposition } from "./metric-family.js";
import { vllmPage } from "./vllm-families.js";

const TEXT = { "content-type": "text/plain; charset=utf-8" };

/** dcgm-exporter: its page, `/health`, and 404 elsewhere. */
export function serveDcgmExporter(live: LiveNode): Promise<Endpoint> {
  return serveHttp((request, response) => {
    if (request.url === "/metrics") response.writeHead(200, TEXT).end(exposition(live.dcgmPage()));
    else if (request.url === "/health") response.writeHead(200, TEXT).end("OK");
    else response.writeHead(404).end();
  });
}

const PYTHON_TEXT = { "content-type": "text/plain; version=0.0.4; charset=utf-8" };
/** Time that the API server needs for the page when its core is free. */
const PAGE_MS = 4;

/** vLLM's OpenAI server, as far as monitoring asks it. A busy front end answers late: it has one core. */
export function serveVllm(live: LiveNode): Promise<Endpoint> {
  const start_s = live.epoch_us / 1e6 - 600;
  return serveHttp(async (request, response) => {
    const now = live.advance();
    await new Promise((resolve) => setTimeout(resolve, Math.min(5000, live.node.front.backlog(now) / 1000) + PAGE_MS));
    live.advance();
    const model = live.scenario.server.model;
    const json = (value: unknown): unknown => response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
    if (request.url === "/metrics" || request.url === "/metrics/")
      response.writeHead(200, PYTHON_TEXT).end(exposition(vllmPage(live.node, { start_s, extra: {} })));
    else if (request.url === "/health" || request.url === "/ping") response.writeHead(200).end();
    else if (request.url === "/version") json({ version: "0.11.0" });
    else if (request.url === "/v1/models")
      json({ object: "list", data: [{ id: model, object: "model", owned_by: "vllm", max_model_len: 32768 }] });
    else response.writeHead(404, { "content-type": "application/json" }).end('{"detail":"Not Found"}');
  });
}
