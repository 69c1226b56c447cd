import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Collector, CollectorContext, Reading } from "../../schemas/collector.js";
import { columnSpec, ENTITY_KINDS } from "../../schemas/columns/index.js";
import { type FakeContext, fakeContext, type World } from "./fake-context.js";

const fixture = (path: string): string => readFileSync(new URL(`../fixtures/${path}`, import.meta.url), "utf8");

const SERVERS: CollectorContext["servers"] = [
  { name: "a", url: "http://127.0.0.1:8000", metrics_path: "/metrics", engine: null, pids: [process.pid] },
];

/** What must never come from a collector, whatever it reads. */
export function expectValid(reading: Reading, collector: Collector): void {
  for (const sample of reading.samples) {
    expect(collector.kinds).toContain(sample.entity.kind);
    expect(sample.entity.node).toBe("node-x");
    expect(sample.entity.key).not.toBe("");
    expect(Number.isSafeInteger(sample.ts_us)).toBe(true);
    for (const [name, value] of Object.entries(sample.values)) {
      const spec = columnSpec(sample.entity.kind, name);
      const where = `${sample.entity.kind}.${name} = ${value}`;
      expect(spec, where).toBeDefined();
      expect(Number.isFinite(value), where).toBe(true);
      expect(value >= (spec?.min ?? value) && value <= (spec?.max ?? value), where).toBe(true);
    }
  }
  for (const sample of reading.series ?? []) expect(Number.isFinite(sample.value)).toBe(true);
  for (const count of Object.values(reading.rejected ?? {})) expect(count).toBeGreaterThan(0);
  for (const fact of Object.values(reading.manifest ?? {})) expect(fact).not.toBe("");
}

interface Outcome {
  readonly readings: readonly Reading[];
  readonly error: unknown;
}

/** Runs a collector for two polls, or until its stream ends or the signal aborts it. */
async function runFor(collector: Collector, { ctx, abort }: FakeContext, abortAfterMs?: number): Promise<Outcome> {
  const readings: Reading[] = [];
  if (abortAfterMs === 0) abort();
  else if (abortAfterMs !== undefined) setTimeout(abort, abortAfterMs);
  try {
    if (collector.mode === "poll") {
      const instance = collector.start();
      for (let i = 0; i < 2; i++) readings.push(await instance.poll(ctx));
    } else await collector.stream(ctx, (reading) => readings.push(reading));
    return { readings, error: null };
  } catch (error) {
    return { readings, error };
  }
}

/** The suite that every collector passes. */
export function collectorSuite(collector: Collector): void {
  describe(`collector ${collector.name}`, () => {
    it("is named as its file, in kebab case, and declares kinds, interval and deadline", () => {
      expect(collector.name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
      expect(existsSync(new URL(`../../collectors/${collector.name}.ts`, import.meta.url))).toBe(true);
      expect(collector.kinds.length).toBeGreaterThan(0);
      for (const kind of collector.kinds) expect(ENTITY_KINDS).toContain(kind);
      expect(collector.default_interval_ms).toBeGreaterThan(0);
      expect(collector.default_timeout_ms).toBeGreaterThan(0);
    });

    const worlds: Record<string, World> = {
      "nothing is there": {},
      "nothing is there but a server's address": { servers: SERVERS },
      "every page is an error": { page: () => "gather failed\n", status: 500, servers: SERVERS },
      "every page and program answers nonsense": {
        page: () => '<html>\u0000{"a":[1,2}\n{,=}\n"',
        output: "No devices were found\n\u001b[4mxx, , [N/A]\n1\n",
        servers: SERVERS,
      },
      "every page and program answers nothing": { page: () => "", output: "", servers: SERVERS },
      "URL and path are wrong": { servers: [{ ...SERVERS[0]!, url: "no url" }] },
    };

    for (const [what, world] of Object.entries(worlds)) {
      it(`detects and reads without a crash and without an invented zero when ${what}`, async () => {
        const fake = fakeContext(world);
        const detection = await collector.detect(fake.ctx);
        expect(typeof detection.found).toBe("boolean");
        expect(detection.text).not.toBe("");
        const { readings, error } = await runFor(collector, fake, collector.mode === "stream" ? 300 : undefined);
        if (error !== null) expect(error).toBeInstanceOf(Error);
        for (const reading of readings) {
          expectValid(reading, collector);
          for (const sample of reading.samples) expect(sample.values).toEqual({});
        }
        expect(fake.open()).toBe(0);
      });
    }

    it("gives only canonical, finite, possible values where something is there", async () => {
      const fake = fakeContext({
        roots: { proc: "/proc", sys: "/sys" },
        servers: SERVERS,
        page: (url) => (url.includes(":9400") ? fixture("dcgm-exporter/4.8/mig-and-sharing.prom") : fixture("vllm/0.17/busy.prom")),
      });
      await collector.detect(fake.ctx);
      const { readings } = await runFor(collector, fake, collector.mode === "stream" ? 300 : undefined);
      for (const reading of readings) expectValid(reading, collector);
    });

    it("ends when it is told to, before and while it waits", async () => {
      for (const afterMs of [0, 50]) {
        const fake = fakeContext({ hang: true, output: "", roots: { proc: "/proc", sys: "/sys" }, page: () => "" });
        const outcome = await Promise.race([
          runFor(collector, fake, afterMs),
          new Promise<string>((resolve) => {
            setTimeout(() => resolve("still running"), 10_000).unref();
          }),
        ]);
        expect(outcome).not.toBe("still running");
      }
    });
  });
}
