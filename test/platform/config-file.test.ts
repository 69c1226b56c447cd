import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DEFAULT_AGENT_CONFIG } from "../../schemas/agent-config.js";
import { agentConfigSchema } from "../../schemas/config.js";
import { AppError } from "../../schemas/error-codes.js";
import { parseConfig, readConfigFile } from "../../src/platform/config-file.js";
import { nearest } from "../../src/platform/schema-keys.js";

const schema = agentConfigSchema(["dcgm-exporter", "host-proc"]);
const faultOf = (text: string): string => {
  try {
    parseConfig(text, "agent.yml", schema);
  } catch (error) {
    if (error instanceof AppError && error.code === "CONFIG_INVALID" && error.exitStatus === 2) return error.message;
    throw error;
  }
  return "no fault";
};

describe("parseConfig", () => {
  it("gives the defaults for an empty file and for one of comments", () => {
    expect(parseConfig("", "agent.yml", schema)).toEqual(DEFAULT_AGENT_CONFIG);
    expect(parseConfig("# nothing yet\n", "agent.yml", schema)).toEqual(DEFAULT_AGENT_CONFIG);
  });

  it("reads a full configuration", () => {
    const text = `
node: gpu-7
db: /var/lib/whyslow/whyslow.db
listen:
  http: 0.0.0.0:9477
  otlp_grpc: off
  otlp_http: "[::1]:0"
collectors:
  dcgm-exporter: { enabled: true, interval: 250ms, timeout: 2s, url: "http://127.0.0.1:9400/" }
  host-proc: { enabled: false }
servers:
  - { name: chat, url: http://127.0.0.1:8000, engine: vllm, pids: [42] }
  - { name: embed, url: "http://127.0.0.1:8001/", metrics_path: /prometheus/metrics }
host: { proc_root: /host/proc }
store: { flush_interval: 0.5s }
log: { level: debug }
`;
    expect(parseConfig(text, "agent.yml", schema)).toEqual({
      node: "gpu-7",
      db: "/var/lib/whyslow/whyslow.db",
      listen: { http: { host: "0.0.0.0", port: 9477 }, otlp_grpc: null, otlp_http: { host: "::1", port: 0 } },
      collectors: {
        "dcgm-exporter": { enabled: true, interval_ms: 250, timeout_ms: 2000, url: "http://127.0.0.1:9400" },
        "host-proc": { enabled: false, interval_ms: undefined, timeout_ms: undefined, url: undefined },
      },
      servers: [
        { name: "chat", url: "http://127.0.0.1:8000", metrics_path: "/metrics", engine: "vllm", pids: [42] },
        { name: "embed", url: "http://127.0.0.1:8001", metrics_path: "/prometheus/metrics", engine: null, pids: [] },
      ],
      host: { proc_root: "/host/proc", sys_root: "/sys" },
      store: { flush_interval_ms: 500 },
      log: { level: "debug" },
    });
  });

  it.each([
    [
      "collectors:\n  dcgm-exporter:\n    intervall: 1s\n",
      'agent.yml:3:5: unknown key "intervall" in collectors.dcgm-exporter; did you mean "interval"?',
    ],
    ["listn:\n  http: off\n", 'agent.yml:1:1: unknown key "listn"; did you mean "listen"?'],
    ["collectors: { dcgm: {} }\n", 'agent.yml:1:15: unknown key "dcgm" in collectors; known here: dcgm-exporter, host-proc'],
    ["servers:\n  - name: a\n    url: http://x\n    pid: 3\n", 'agent.yml:4:5: unknown key "pid" in servers.0; did you mean "pids"?'],
    [
      "collectors:\n  host-proc:\n    interval: 1\n",
      "agent.yml:3:15: collectors.host-proc.interval: 1 is no duration; write a number with its unit, e.g. 1s or 250ms",
    ],
    ["store: { flush_interval: 5m }\n", "agent.yml:1:26: store.flush_interval: 5m is outside of 50ms to 60s"],
    ["listen:\n  http: 9477\n", "agent.yml:2:9: listen.http: 9477 is no address; write HOST:PORT, e.g. 127.0.0.1:9477, or off"],
    [
      "listen:\n  http: 127.0.0.1:99999\n",
      'agent.yml:2:9: listen.http: "127.0.0.1:99999" is no address; write HOST:PORT, e.g. 127.0.0.1:9477, or off',
    ],
    ["servers:\n  - name: a\n", "agent.yml:2:5: servers.0.url: Invalid input: expected string, received undefined"],
    ["servers:\n  - { name: a, url: ftp://x }\n", 'agent.yml:2:21: servers.0.url: "ftp://x" is no http:// or https:// address'],
    [
      "servers:\n  - { name: a, url: http://x }\n  - { name: a, url: http://y }\n",
      'agent.yml:3:13: servers.1.name: there are two servers named "a"',
    ],
    ["node: a\nnode: b\n", "agent.yml:2:1: Map keys must be unique"],
    ["node: [a\n", "agent.yml:2:1: Flow sequence in block collection must be sufficiently indented and end with a ]"],
    ["- a\n", "agent.yml:1:1: Invalid input: expected object, received array"],
    ["node: 7\nlog: { level: loud }\n", "agent.yml:1:7: node: Invalid input: expected string, received number (and 1 more)"],
  ])("names line and column: %j", (text, expected) => {
    expect(faultOf(text)).toBe(expected);
  });

  it("refuses an alias bomb", () => {
    const bomb = `a: &a [x,x,x,x,x,x,x,x,x,x]\n${"bcdefgh"
      .split("")
      .map((name, i) => {
        const before = "abcdefgh"[i]!;
        return `${name}: &${name} [${Array(10).fill(`*${before}`).join(",")}]`;
      })
      .join("\n")}\n`;
    expect(faultOf(bomb)).toMatch(/^agent\.yml: .*alias/i);
  });

  it("never fails in another way, whatever the text", () => {
    const piece = fc.constantFrom(
      "node",
      ":",
      " ",
      "\n",
      "- ",
      "[",
      "]",
      "{",
      "}",
      "*a",
      "&a",
      "listen",
      "http",
      "off",
      '"',
      "'",
      "|",
      "#",
      "\t",
      "?",
      "!",
      "1s",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        expect(faultOf(pieces.join(""))).toMatch(/^(no fault|agent\.yml(:\d+:\d+)?: .+)/);
      }),
      { numRuns: 500 },
    );
  });
});

describe("readConfigFile", () => {
  it("names the file that is missing, no text, or a folder", () => {
    const dir = fs.mkdtempSync(path.join(os.tmpdir(), "whyslow-config-"));
    const file = path.join(dir, "agent.yml");
    expect(() => readConfigFile(file, schema)).toThrow(`${file}: the configuration cannot be read: there is no such file`);
    fs.writeFileSync(file, Buffer.from([0x6e, 0xff, 0xfe, 0x00]));
    expect(() => readConfigFile(file, schema)).toThrow("not UTF-8");
    expect(() => readConfigFile(dir, schema)).toThrow("cannot be read");
    fs.writeFileSync(file, "node: n1\n");
    expect(readConfigFile(file, schema).node).toBe("n1");
    fs.rmSync(dir, { recursive: true });
  });
});

describe("nearest", () => {
  it("finds a slip and no far-fetched word", () => {
    expect(nearest("intervl", ["enabled", "interval"])).toBe("interval");
    expect(nearest("qqqqqqqq", ["enabled", "interval"])).toBe(null);
  });
});
