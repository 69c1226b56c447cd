import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { fakeProgram } from "../platform/fake-program.js";
import { endAgents, hostCollector, isSkipped, runAgent, smiCollector, tempDir } from "./agent-bench.js";

const PROMETHEUS = "/usr/bin/prometheus";
const PROMTOOL = "/usr/bin/promtool";
const undo: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
  await endAgents();
});

async function freePort(): Promise<number> {
  const server = net.createServer();
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as net.AddressInfo;
  await new Promise((resolve) => void server.close(resolve));
  return port;
}

/** A real Prometheus that scrapes the target each second; gives its query API. */
async function startPrometheus(
  target: string,
): Promise<(query: string) => Promise<{ metric: Record<string, string>; value: [number, string] }[]>> {
  const dir = tempDir();
  fs.writeFileSync(
    path.join(dir, "p.yml"),
    `scrape_configs: [{ job_name: whyslow, scrape_interval: 1s, scrape_timeout: 1s, static_configs: [{ targets: ["${target}"] }] }]\n`,
  );
  const address = `127.0.0.1:${await freePort()}`;
  const child = spawn(PROMETHEUS, [`--config.file=${dir}/p.yml`, `--storage.tsdb.path=${dir}/tsdb`, `--web.listen-address=${address}`], {
    stdio: "ignore",
  });
  const gone = new Promise<void>((resolve) => void child.once("exit", () => resolve()));
  undo.push(async () => {
    child.kill("SIGKILL");
    await gone;
  });
  return async (query) => {
    const response = await fetch(`http://${address}/api/v1/query?query=${encodeURIComponent(query)}`).catch(() => null);
    if (!response?.ok) return [];
    return ((await response.json()) as { data: { result: [] } }).data.result;
  };
}

describe("/metrics", () => {
  it.skipIf(isSkipped(PROMTOOL))("passes promtool check metrics (skipped without promtool)", async () => {
    const { env, remove } = fakeProgram("#!/bin/sh\nwhile :; do echo 412.5; sleep 0.1; done\n");
    undo.push(remove);
    const { get } = await runAgent([hostCollector("fake-host", async () => ({ rejected: { syntax: 1 } })), smiCollector()], { env });
    let page = "";
    while (!page.includes("whyslow_gpu_power_watts") || !page.includes("whyslow_host_load1")) page = (await get("/metrics")).text;
    const judge = spawnSync(PROMTOOL, ["check", "metrics"], { input: page, encoding: "utf8" });
    expect({ status: judge.status, said: judge.stdout + judge.stderr }).toEqual({ status: 0, said: "" });
  });

  it.skipIf(isSkipped(PROMETHEUS))("is scraped by a real Prometheus (skipped without prometheus)", async () => {
    const { env, remove } = fakeProgram("#!/bin/sh\nwhile :; do echo 412.5; sleep 0.1; done\n");
    undo.push(remove);
    const { agent } = await runAgent([hostCollector(), smiCollector()], { env });
    const query = await startPrometheus(agent.url!.replace("http://", ""));
    let found = await query("whyslow_gpu_power_watts");
    while (found.length === 0) {
      await new Promise((resolve) => setTimeout(resolve, 200));
      found = await query("whyslow_gpu_power_watts");
    }
    expect(found).toHaveLength(1);
    expect(found[0]!.value[1]).toBe("412.5");
    expect(found[0]!.metric).toMatchObject({ job: "whyslow", node: "n1", gpu: "0", uuid: "GPU-a", source: "fake-smi" });
    expect((await query("up"))[0]!.value[1]).toBe("1");
    expect((await query('whyslow_collector_success{collector="fake-smi"}'))[0]!.value[1]).toBe("1");
  });
});
