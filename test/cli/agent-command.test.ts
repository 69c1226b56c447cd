import { type ChildProcess, spawn } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { runCli } from "../../src/cli/run-cli.js";
import { openStore } from "../../src/store/open-store.js";
import { until } from "../platform/fake-program.js";

// The built command line: worker threads cannot load the sources on Node 20. `npm test` builds it first.
const CLI = new URL("../../dist/src/cli/whyslow.js", import.meta.url).pathname;
const undo: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

const FREE = "listen: { http: 127.0.0.1:0, otlp_grpc: 127.0.0.1:0, otlp_http: 127.0.0.1:0 }\n";
const ONLY_HOST = `collectors: { ${["dcgm-exporter", "nvidia-smi-query", "nvidia-smi-dmon", "nvidia-smi-nvlink", "nvidia-smi-inventory", "cgroup", "server-processes", "network", "infiniband", "server-metrics"].map((name) => `${name}: { enabled: false }`).join(", ")}, host: { interval: 100ms } }\n`;

interface Started {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly exit: Promise<{ code: number | null; signal: string | null }>;
}

/** The real command line in a process of its own. */
function whyslow(args: readonly string[]): Started {
  const child = spawn(process.execPath, [CLI, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on("data", (piece: Buffer) => void stdout.push(piece));
  child.stderr.on("data", (piece: Buffer) => void stderr.push(piece));
  const exit = new Promise<{ code: number | null; signal: string | null }>(
    (resolve) => void child.once("close", (code, signal) => resolve({ code, signal })),
  );
  undo.push(async () => {
    child.kill("SIGKILL");
    await exit;
  });
  return { child, stdout: () => Buffer.concat(stdout).toString(), stderr: () => Buffer.concat(stderr).toString(), exit };
}

/** The same command line in this process. */
async function inProcess(args: readonly string[]): Promise<{ status: number; out: string; err: string }> {
  const written = { out: "", err: "" };
  const io = {
    out(text: string) {
      written.out += text;
    },
    err(text: string) {
      written.err += text;
    },
    env: {},
    errIsTerminal: false,
    outIsTerminal: false,
    columns: 100,
    wallUs: () => Date.now() * 1000,
  };
  return { status: await runCli(args, io, "1.2.3"), ...written };
}

function folder(config: string): { db: string; config: string } {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), "whyslow-cli-"));
  undo.push(() => fs.rmSync(dir, { recursive: true, force: true }));
  fs.writeFileSync(path.join(dir, "agent.yml"), config);
  return { db: path.join(dir, "w.db"), config: path.join(dir, "agent.yml") };
}

const readyAt = async (agent: Started): Promise<string> => {
  await until(() => /receives OTLP\/HTTP/.test(agent.stderr()) || agent.child.exitCode !== null, "the agent listens", 50_000);
  const url = /http:\/\/127\.0\.0\.1:\d+(?=\/metrics)/.exec(agent.stderr())?.[0];
  if (!url) throw new Error(`the agent does not listen: ${agent.stderr()}`);
  return url;
};
const stored = (db: string): { samples: number; marks: string[] } => {
  const store = openStore(db, { mode: "read" });
  const { tracks, marks } = store.read.telemetry({ from_us: 0, to_us: 9e15 });
  store.close();
  return { samples: tracks.find((t) => t.source.name === "host")?.ts_us.length ?? 0, marks: marks.map((m) => m.kind) };
};
const flushesOf = async (url: string): Promise<number> =>
  Number(/^whyslow_store_flushes_total (\d+)$/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1]);

describe("whyslow agent", () => {
  it("runs, reports, stops in order at SIGTERM, and survives kill -9 with what was committed", async () => {
    const files = folder(`${FREE}${ONLY_HOST}store: { flush_interval: 200ms }\n`);
    const first = whyslow(["agent", "--config", files.config, "--db", files.db]);
    const url = await readyAt(first);
    while ((await flushesOf(url)) < 5);
    first.child.kill("SIGKILL");
    await first.exit;
    const kept = stored(files.db);
    expect(kept.samples).toBeGreaterThan(2);
    expect(kept.marks).toEqual(["agent_start"]);

    const second = whyslow(["agent", "--config", files.config, "--db", files.db]);
    const again = await readyAt(second);
    while ((await flushesOf(again)) < 2);
    const report = await fetch(`${again}/api/v1/report?since=5m`);
    expect(report.status).toBe(200);
    const { schema, data } = (await report.json()) as { schema: string; data: { sources: { source: string; samples: number }[] } };
    expect(schema).toBe("whyslow.report/v1");
    expect(data.sources.find((one) => one.source === "host")?.samples).toBeGreaterThan(kept.samples);
    second.child.kill("SIGTERM");
    expect(await second.exit).toEqual({ code: 0, signal: null });
    expect(second.stderr()).toContain("whyslow: SIGTERM, stopping\n");
    expect(second.stdout()).toBe("");
    const now = stored(files.db);
    expect(now.samples).toBeGreaterThan(kept.samples);
    expect(now.marks).toEqual(["agent_start", "agent_restart", "agent_stop"]);
  });

  it("names the line of a wrong configuration and ends with status 2", async () => {
    const files = folder("listen: { http: 127.0.0.1:0 }\ncollectors:\n  hostt: {}\n");
    expect(await inProcess(["agent", "--config", files.config, "--db", files.db])).toEqual({
      status: 2,
      out: "",
      err: `whyslow: ${files.config}:3:3: unknown key "hostt" in collectors; did you mean "host"? [CONFIG_INVALID]\n`,
    });
  });

  it("ends with status 1 when its port is taken", async () => {
    const server = net.createServer();
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    undo.push(() => void server.close());
    const { port } = server.address() as net.AddressInfo;
    const files = folder(`listen: { http: "127.0.0.1:${port}", otlp_grpc: off, otlp_http: off }\n${ONLY_HOST}`);
    const { status, out, err } = await inProcess(["agent", "--config", files.config, "--db", files.db]);
    expect({ status, out }).toEqual({ status: 1, out: "" });
    expect(err).toMatch(
      new RegExp(
        `^whyslow: the agent's HTTP service cannot listen on 127\\.0\\.0\\.1:${port}: the port is in use by .+ \\(pid ${process.pid}\\); stop that process, .* \\[PORT_IN_USE\\]\\n$`,
      ),
    );
  });
});

describe("whyslow doctor", () => {
  it("says what is missing and how to switch it on, as text and as JSON, with status 3", async () => {
    const off = ONLY_HOST.replace("dcgm-exporter: { enabled: false }", 'dcgm-exporter: { url: "http://127.0.0.1:1" }');
    const files = folder(`${off}servers: []\n`);
    const text = await inProcess(["doctor", "--config", files.config, "--db", files.db]);
    expect(text.status).toBe(3);
    expect(text.out).toMatch(
      /^ {2}missing +dcgm-exporter +no dcgm-exporter at http:\/\/127\.0\.0\.1:1.*: connection refused\n +-> run dcgm-exporter with/m,
    );
    expect(text.out).toMatch(/^ {2}found +host +\/proc/m);
    expect(text.out).toMatch(/^ {2}off +nvidia-smi-query/m);
    expect(text.out).toMatch(/\nMissing: a GPU source .* and an inference server's metrics\./);
    const json = await inProcess(["doctor", "--config", files.config, "--db", files.db, "--json"]);
    expect(json.status).toBe(3);
    const { findings, essential } = JSON.parse(json.out) as { findings: { what: string; state: string }[]; essential: string[] };
    expect(findings.find((f) => f.what === "dcgm-exporter")?.state).toBe("missing");
    expect(findings.map((f) => f.what)).toContain("clock");
    expect(essential).toHaveLength(2);
    expect(fs.existsSync(files.db)).toBe(false);
  });

  it("has enough when an inference server is named", async () => {
    const files = folder(`${ONLY_HOST}servers: [{ name: chat, url: "http://127.0.0.1:1" }]\n`);
    const { status, out } = await inProcess(["doctor", "--config", files.config, "--db", files.db]);
    expect(status).toBe(0);
    expect(out).toMatch(/^ {2}off +dcgm-exporter/m);
    expect(out).toMatch(/^ {2}found +server chat +http:\/\/127\.0\.0\.1:1\/metrics$/m);
  });
});
