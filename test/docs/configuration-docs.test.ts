import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { describe, expect, it } from "vitest";
import { COLLECTORS } from "../../collectors/index.js";
import { DEFAULT_AGENT_CONFIG } from "../../schemas/agent-config.js";
import { agentConfigSchema } from "../../schemas/config.js";
import { USUAL_PORTS } from "../../src/agent/server-discovery.js";
import { parseConfig } from "../../src/platform/config-file.js";
import { keysAt } from "../../src/platform/schema-keys.js";

const SYSTEMD = "/usr/bin/systemd-analyze";
const hasSystemd = fs.existsSync(SYSTEMD) || process.env.WHYSLOW_REQUIRE_ALL === "1";
const page = fs.readFileSync(new URL("../../docs/configuration.md", import.meta.url), "utf8");
const example = /```yaml\n([\s\S]*?)```/.exec(page)![1]!;
const schema = agentConfigSchema(COLLECTORS.map((collector) => collector.name));

describe("docs/configuration.md", () => {
  it("shows a configuration that can be used, with every key and the defaults that it claims", () => {
    const config = parseConfig(example, "configuration.md", schema);
    expect(config.listen).toEqual(DEFAULT_AGENT_CONFIG.listen);
    expect(config.host).toEqual(DEFAULT_AGENT_CONFIG.host);
    expect(config.store).toEqual(DEFAULT_AGENT_CONFIG.store);
    expect(config.log).toEqual(DEFAULT_AGENT_CONFIG.log);
    const paths = [[], ["listen"], ["collectors", "dcgm-exporter"], ["servers", 0], ["host"], ["store"], ["log"]];
    for (const path of paths) {
      const keys = keysAt(schema, path);
      expect(keys.length).toBeGreaterThan(0);
      for (const key of keys) expect(example).toMatch(new RegExp(`\\b${key}:`));
    }
  });

  it("names the ports on which servers are looked for", () => {
    for (const port of USUAL_PORTS) expect(page).toContain(String(port));
  });
});

describe("deploy/whyslow.service", () => {
  it.runIf(hasSystemd)("is accepted by systemd-analyze without a word (needs systemd-analyze)", () => {
    const unit = new URL("../../deploy/whyslow.service", import.meta.url).pathname;
    const judge = spawnSync(SYSTEMD, ["verify", unit], { encoding: "utf8" });
    expect({ status: judge.status, said: judge.stdout + judge.stderr }).toEqual({ status: 0, said: "" });
  });
});
