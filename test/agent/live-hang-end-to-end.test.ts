import { type ChildProcess, spawn } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import type net from "node:net";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { Episode } from "../../schemas/report.js";
import { endAgents, tempDir } from "./agent-bench.js";

const WHYSLOW = new URL("../../dist/src/cli/whyslow.js", import.meta.url).pathname;
const full = process.env.WHYSLOW_FULL === "1";
const undo: (() => void)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) step();
  await endAgents();
});

/** An API server that goes on answering after its engine has stopped. */
async function serveVllm(): Promise<{ url: string; hang(): void }> {
  let tokens = 0;
  let hangs = false;
  const server = http.createServer((_, response) => {
    if (!hangs) tokens += 900;
    const page = [
      "# TYPE vllm:num_requests_running gauge",
      'vllm:num_requests_running{engine="0",model_name="m"} 7',
      "# TYPE vllm:num_requests_waiting gauge",
      'vllm:num_requests_waiting{engine="0",model_name="m"} 0',
      "# TYPE vllm:generation_tokens_total counter",
      `vllm:generation_tokens_total{engine="0",model_name="m"} ${tokens}`,
      "# TYPE vllm:prompt_tokens_total counter",
      `vllm:prompt_tokens_total{engine="0",model_name="m"} ${3 * tokens}`,
      "",
    ].join("\n");
    response.writeHead(200, { "content-type": "text/plain; version=0.0.4" }).end(page);
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  undo.push(() => server.close());
  return {
    url: `http://127.0.0.1:${(server.address() as net.AddressInfo).port}`,
    hang: () => {
      hangs = true;
    },
  };
}

/** The built agent, watching that server alone; gives its HTTP address and what it logs. */
async function agentOf(server: string): Promise<{ url: string; log(): string; child: ChildProcess }> {
  const folder = tempDir();
  const off = ["host", "cgroup", "server-processes", "network", "infiniband", "dcgm-exporter"].map((name) => [name, { enabled: false }]);
  const config = {
    listen: { http: "127.0.0.1:0", otlp_grpc: "off", otlp_http: "off" },
    collectors: Object.fromEntries(off),
    servers: [{ name: "llm", url: server, engine: "vllm" }],
  };
  fs.writeFileSync(path.join(folder, "agent.yaml"), JSON.stringify(config));
  const args = [WHYSLOW, "agent", "--config", path.join(folder, "agent.yaml"), "--db", path.join(folder, "a.db")];
  const child = spawn(process.execPath, args, { env: { ...process.env, PATH: folder } });
  undo.push(() => child.kill("SIGKILL"));
  let log = "";
  const url = new Promise<string>((resolve, reject) => {
    const take = (chunk: Buffer): void => {
      log += chunk.toString();
      const found = /serves +http +(\S+)\/metrics/.exec(log);
      if (found) resolve(found[1]!);
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    child.on("exit", () => reject(new Error(log)));
  });
  return { url: await url, log: () => log, child };
}

describe.skipIf(!full)(`a server that hangs${full ? "" : " (skipped: takes half a minute, runs with WHYSLOW_FULL=1)"}`, () => {
  it("is reported by the agent while it lasts, with no span ever arriving", async () => {
    const server = await serveVllm();
    const agent = await agentOf(server.url);
    await new Promise((resolve) => setTimeout(resolve, 12_000));
    server.hang();
    const begin = performance.now();
    let found: (Episode & { final: boolean }) | undefined;
    while (!found) {
      await new Promise((resolve) => setTimeout(resolve, 200));
      const answer = (await (await fetch(`${agent.url}/api/v1/episodes?since=5m`)).json()) as {
        episodes: (Episode & { final: boolean })[];
      };
      found = answer.episodes.find((e) => e.basis === "telemetry");
    }
    console.log(`reported ${((performance.now() - begin) / 1000).toFixed(1)} s after the last token (limit of a hang: 5 s)`);
    expect(found).toMatchObject({ final: false, basis: "telemetry", phases: { stall: 1 } });
    expect(agent.log()).toContain('"final":false');
    expect(await (await fetch(`${agent.url}/metrics`)).text()).toMatch(/whyslow_episodes_open\{[^}]*metric="itl"[^}]*\} 1\n/);
  });
});
