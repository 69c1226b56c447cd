import { afterEach, describe, expect, it } from "vitest";
import { AppError } from "../../schemas/error-codes.js";
import { until } from "../platform/fake-program.js";
import { endAgents, hostCollector, runAgent, testConfig } from "./agent-bench.js";

afterEach(endAgents);

describe("the agent's HTTP service", () => {
  it("serves its routes, read only", async () => {
    const { get } = await runAgent([hostCollector()]);
    expect(await get("/healthz")).toMatchObject({ status: 200, text: "ok\n", type: "text/plain; charset=utf-8" });
    expect(await get("/metrics")).toMatchObject({ status: 200, type: "text/plain; version=0.0.4; charset=utf-8" });
    const index = await get("/");
    for (const path of ["/metrics", "/healthz", "/readyz", "/api/v1/report", "/api/v1/collectors"]) expect(index.text).toContain(path);
    expect(await get("/nope?x=1")).toMatchObject({ status: 404, text: "there is no /nope here; / lists what there is\n" });
    const post = await get("/metrics", { method: "POST", body: "x" });
    expect(post.status).toBe(405);
    expect(post.headers.get("allow")).toBe("GET, HEAD");
    const head = await get("/healthz", { method: "HEAD" });
    expect(head).toMatchObject({ status: 200, text: "" });
    expect(head.headers.get("content-length")).toBe("3");
  });

  it("is ready once something is committed", async () => {
    const { get } = await runAgent([hostCollector()], { config: testConfig({ store: { flush_interval_ms: 400 } }) });
    const first = await get("/readyz");
    expect(first).toMatchObject({ status: 503, text: "nothing is committed yet\n" });
    for (let status = first.status; status !== 200; status = (await get("/readyz")).status);
    expect((await get("/readyz")).text).toBe("ready\n");
  });

  it("gives the report of a range", async () => {
    const { get } = await runAgent([hostCollector()]);
    const report = await get("/api/v1/report?from=2026-01-01T00:00:00Z&to=2026-01-01T00:01:00Z");
    expect(report).toMatchObject({ status: 200, type: "application/json; charset=utf-8" });
    expect(JSON.parse(report.text)).toEqual({ range: { from_us: 1_767_225_600_000_000, to_us: 1_767_225_660_000_000 } });
    const wrong = await get("/api/v1/report?since=soon");
    expect(wrong.status).toBe(400);
    expect(JSON.parse(wrong.text)).toEqual({ error: { code: "USAGE", text: 'since: "soon" is no duration; write e.g. 30m' } });
  });

  it("answers other requests while a report is made, and makes one at a time", async () => {
    const asked: ((value: unknown) => void)[] = [];
    const report = (): Promise<unknown> => new Promise((resolve) => void asked.push(resolve));
    const { get } = await runAgent([hostCollector()], { report });
    for (const round of [0, 1]) {
      const slow = get("/api/v1/report?since=1m");
      await until(() => asked.length > round, "the report is being made");
      const second = await get("/api/v1/report?since=1m");
      expect(second.status).toBe(503);
      expect(second.headers.get("retry-after")).toBe("5");
      expect((await get("/healthz")).status).toBe(200);
      asked[round]!({ round });
      expect((await slow).text).toBe(`{"round":${round}}\n`);
    }
  });

  it.each([
    [new AppError("RUN_EMPTY", "nothing is stored"), 404, "RUN_EMPTY"],
    [new AppError("DB_CORRUPT", "the database is damaged"), 500, "DB_CORRUPT"],
    [new Error("a defect"), 500, "INTERNAL"],
  ])("tells why a report failed: %s", async (error, status, code) => {
    const { get } = await runAgent([hostCollector()], { report: () => Promise.reject(error) });
    const answer = await get("/api/v1/report?since=1m");
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.text)).toEqual({ error: { code, text: error.message } });
  });

  it("tells the state of every collector", async () => {
    const { get } = await runAgent([hostCollector("a", async () => ({ rejected: { sentinel: 2 }, notice: "half there" }))]);
    let state: Record<string, unknown> = {};
    while (!(Number(state.attempts) > 1))
      state = (JSON.parse((await get("/api/v1/collectors")).text) as { collectors: (typeof state)[] }).collectors[0]!;
    expect(state).toMatchObject({
      name: "a",
      mode: "poll",
      status: "running",
      interval_ms: 100,
      success: true,
      notice: "half there",
      found: true,
    });
    expect((state.rejected as { sentinel: number }).sentinel).toBeGreaterThanOrEqual(2);
    expect(state.last_success).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
  });
});
