import fs from "node:fs";
import http from "node:http";
import type net from "node:net";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { AppError } from "../../schemas/error-codes.js";
import { openStore } from "../../src/store/open-store.js";
import { fakeProgram, isAlive, until } from "../platform/fake-program.js";
import { endAgents, hostCollector, runAgent, smiCollector, tempDir, testConfig } from "./agent-bench.js";

afterEach(endAgents);

const listenSomewhere = async (): Promise<{ server: http.Server; port: number }> => {
  const server = http.createServer();
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return { server, port: (server.address() as net.AddressInfo).port };
};
const samplesOf = (database: string, source: string): number[] => {
  const store = openStore(database, { mode: "read" });
  const track = store.read.telemetry({ from_us: 0, to_us: 9e15 }).tracks.find((t) => t.source.name === source);
  store.close();
  return track ? [...track.ts_us] : [];
};
const marksOf = (database: string): { kind: string; text: string }[] => {
  const store = openStore(database, { mode: "read" });
  const { marks } = store.read.telemetry({ from_us: 0, to_us: 9e15 });
  store.close();
  return marks.map(({ kind, text }) => ({ kind, text }));
};

describe("startAgent", () => {
  it("says what it found, stores samples, and serves them", async () => {
    const missing = {
      ...hostCollector("fake-gpu"),
      detect: async () => ({ found: false, text: "nothing on :9400", mend: "start dcgm-exporter" }),
    };
    const config = testConfig({ collectors: { "fake-off": { enabled: false } } });
    const { said, agent, database, get } = await runAgent([hostCollector(), missing, hostCollector("fake-off")], { config });
    expect(said.map((line) => line.replace(database, "DB").replace(agent.url!, "URL").replace(/ +/g, " "))).toEqual([
      "whyslow 1.2.3 on n1, database DB",
      " found fake-host here (every 100 ms)",
      " missing fake-gpu nothing on :9400; start dcgm-exporter",
      " off fake-off switched off in the configuration",
      " serves http URL/metrics",
      " off OTLP/gRPC",
      " off OTLP/HTTP",
    ]);
    let page = "";
    for (; !page.includes("store_flushes_total 2"); page = (await get("/metrics")).text);
    expect(page).toContain('whyslow_host_load1{node="n1",source="fake-host"} 0.5\n');
    expect(page).toContain('whyslow_host_cpu_user_seconds_total{node="n1",source="fake-host"} 12.5\n');
    expect(page).toContain('whyslow_collector_success{collector="fake-host"} 1\n');
    expect(page).not.toContain('collector_success{collector="fake-gpu"}');
    expect(page).toMatch(/^whyslow_build_info\{version="1\.2\.3",node_version="[^"]+"\} 1$/m);
    await agent.stop();
    expect(samplesOf(database, "fake-host").length).toBeGreaterThan(1);
    expect(marksOf(database).map((m) => m.kind)).toEqual(["agent_start", "agent_stop"]);
    expect(fs.existsSync(`${database}.agent`)).toBe(false);
  });

  it("looks again for nothing that it found, and tries what is switched on though it was not found", async () => {
    const absent = { ...hostCollector(), detect: async () => ({ found: false, text: "nothing here" }) };
    const { said } = await runAgent([absent], { config: testConfig({ collectors: { "fake-host": { enabled: true } } }) });
    expect(said.join("\n")).toMatch(/missing +fake-host +nothing here; tried all the same, as configured/);
  });

  it("looks again for what was missing, and starts it once it is there", async () => {
    let isThere = false;
    const late = { ...hostCollector(), detect: async () => ({ found: isThere, text: isThere ? "now" : "not yet" }) };
    const { get } = await runAgent([late], { lookIntervalMs: 50 });
    const state = async () =>
      (JSON.parse((await get("/api/v1/collectors")).text) as { collectors: Record<string, unknown>[] }).collectors[0]!;
    expect(await state()).toMatchObject({ status: "waiting", found: false, detail: "not yet", attempts: 0 });
    isThere = true;
    let now = await state();
    while (now.status === "waiting") now = await state();
    expect(now).toMatchObject({ status: "running", found: true, detail: "now" });
  });

  it("finds an inference server by its process, and hands it to the collectors", async () => {
    const { server, port } = await listenSomewhere();
    server.on("request", (_req, res) => void res.end("vllm:num_requests_running 0\n"));
    const seen: string[][] = [];
    const watcher = hostCollector("watcher", async (ctx) => {
      seen.push(ctx.servers.map((one) => one.url));
      return {};
    });
    const config = { ...testConfig(), servers: null };
    const { said } = await runAgent([watcher], {
      config,
      serverPorts: [],
      lookIntervalMs: 50,
      serverProcesses: async () => [{ pid: 7, port }],
    });
    await until(() => (seen.at(-1) ?? []).length > 0, "the server is handed to the collectors");
    expect(seen.at(-1)).toEqual([`http://127.0.0.1:${port}`]);
    expect(said.join("\n")).toContain(`found    vllm-${port}`);
    server.closeAllConnections();
    server.close();
  });

  it("is not disturbed by collectors that throw, hang, flood, or hold a program that hangs", async () => {
    const { env, remove } = fakeProgram("#!/bin/sh\ntrap '' TERM\necho 100\nexec sleep 300\n");
    const hangs = hostCollector("hangs", () => new Promise(() => {}));
    const throws = hostCollector("throws", () => Promise.reject(new Error("broken")));
    const cannotDetect = { ...hostCollector("cannot"), detect: () => Promise.reject(new Error("no permission")) };
    const sick = {
      ...hostCollector("sick"),
      detect: async () => ({ found: true, text: "" }),
      start: () => ({
        poll: () => {
          throw new Error("at once");
        },
      }),
    }; // prettier-ignore
    const { agent, database, get, said } = await runAgent([hangs, throws, hostCollector("well"), cannotDetect, sick, smiCollector()], {
      env,
    });
    expect(said.join("\n")).toMatch(/missing +cannot +no permission/);
    const seen = new Set<string>();
    for (
      let page = "";
      !page.includes('timeouts_total{collector="fake-smi"} 1') || !page.includes('timeouts_total{collector="hangs"} 1');
    ) {
      page = (await get("/metrics")).text;
      for (const line of page.match(/^whyslow_collector_success.*$/gm) ?? []) seen.add(line);
    }
    expect(seen).toContain('whyslow_collector_success{collector="throws"} 0');
    expect(seen).toContain('whyslow_collector_success{collector="sick"} 0');
    expect(seen).toContain('whyslow_collector_success{collector="well"} 1');
    await agent.stop();
    remove();
    const at = samplesOf(database, "well");
    const gaps = at.slice(1).map((t, i) => t - at[i]!);
    expect(at.length).toBeGreaterThan(10);
    // A tenth of a second apart; a loaded test machine may be late, a hung neighbour would cost a second or more.
    expect(gaps.sort((a, b) => a - b)[Math.floor(gaps.length / 2)]).toBeLessThan(200_000);
  });

  it("stops in order with a hung program, and leaves no process", async () => {
    const { env, dir, remove } = fakeProgram(
      '#!/bin/sh\ntrap "" TERM\ntouch "$(dirname "$0")/pid.$$"\n(trap "" TERM; touch "$(dirname "$0")/pid.$(sh -c \'echo $PPID\')"; sleep 300) &\necho 100\nwhile :; do sleep 0.1; done\n',
    );
    const pids = (): number[] => fs.readdirSync(dir).flatMap((name) => (name.startsWith("pid.") ? [Number(name.slice(4))] : []));
    const { agent, database } = await runAgent([smiCollector(), hostCollector()], { env });
    await until(() => pids().length === 2, "the program and its child run");
    expect(pids().every(isAlive)).toBe(true);
    await agent.stop();
    expect(pids().filter(isAlive)).toEqual([]);
    expect(marksOf(database).at(-1)?.kind).toBe("agent_stop");
    await expect(fetch(`${agent.url}/healthz`)).rejects.toThrow();
    await agent.stop();
    remove();
  });

  it("refuses a second agent on the same database and goes on itself", async () => {
    const first = await runAgent([hostCollector()]);
    const second = runAgent([hostCollector()], { database: first.database });
    await expect(second).rejects.toThrow(`another agent (process ${process.pid}) writes to ${first.database}`);
    expect((await first.get("/healthz")).status).toBe(200);
  });

  it("cannot start without its HTTP port, says who has it, and leaves nothing behind", async () => {
    const { server, port } = await listenSomewhere();
    const database = path.join(tempDir(), "whyslow.db");
    const config = testConfig({ listen: { http: { host: "127.0.0.1", port }, otlp_grpc: null, otlp_http: null } });
    const error = await runAgent([hostCollector()], { config, database }).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(AppError);
    expect((error as AppError).code).toBe("PORT_IN_USE");
    expect((error as AppError).message).toMatch(
      new RegExp(`^the agent's HTTP service cannot listen on 127\\.0\\.0\\.1:${port}: the port is in use by .+ \\(pid ${process.pid}\\)$`),
    );
    expect(fs.existsSync(`${database}.agent`)).toBe(false);
    await new Promise((resolve) => void server.close(resolve));
    const { agent } = await runAgent([hostCollector()], { config, database });
    expect(agent.url).toBe(`http://127.0.0.1:${port}`);
  });

  it("goes on without an OTLP port that is taken, with a warning that names it", async () => {
    const { server, port } = await listenSomewhere();
    const taken = { host: "127.0.0.1", port };
    for (const listen of [
      { http: { host: "127.0.0.1", port: 0 }, otlp_grpc: taken, otlp_http: null },
      { http: { host: "127.0.0.1", port: 0 }, otlp_grpc: null, otlp_http: taken },
    ]) {
      const { agent, said, get } = await runAgent([hostCollector()], { config: testConfig({ listen }) });
      expect(agent.otlp).toEqual({ grpc: null, http: null });
      const what = listen.otlp_grpc ? "gRPC" : "HTTP";
      expect(said[0]).toMatch(
        new RegExp(
          `^warning: OTLP/${what} cannot listen on 127\\.0\\.0\\.1:${port}: the port is in use by .*; traces are not received there$`,
        ),
      );
      expect((await get("/healthz")).status).toBe(200);
    }
    server.close();
  });

  it("receives traces on free ports and counts them", async () => {
    const free = { host: "127.0.0.1", port: 0 };
    const { agent, get } = await runAgent([], { config: testConfig({ listen: { http: free, otlp_grpc: free, otlp_http: free } }) });
    expect(agent.otlp.grpc).toMatch(/^127\.0\.0\.1:\d+$/);
    const answer = await fetch(`http://${agent.otlp.http}/v1/traces`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{",
    });
    expect(answer.status).toBe(400);
    expect((await get("/metrics")).text).toContain('whyslow_otlp_refused_exports_total{protocol="http",reason="malformed"} 1\n');
  });

  it("marks that the agent before it was killed", async () => {
    const database = path.join(tempDir(), "whyslow.db");
    fs.writeFileSync(`${database}.agent`, JSON.stringify({ pid: 2 ** 22 + 1, startTicks: "1" }));
    const { agent } = await runAgent([hostCollector()], { database });
    await agent.stop();
    expect(marksOf(database)[0]).toEqual({
      kind: "agent_restart",
      text: expect.stringMatching(/process 4194305\) ended out of order: up to 100 ms/),
    });
  });
});
