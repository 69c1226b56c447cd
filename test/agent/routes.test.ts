import { describe, expect, it } from "vitest";
import { newCollectorState } from "../../src/agent/collector-state.js";
import { agentRoutes } from "../../src/agent/routes.js";
import type { StoreHealth } from "../../src/export/agent-families.js";
import { createLatestValues } from "../../src/export/latest-values.js";

const routesWith = (store: Partial<StoreHealth>) =>
  agentRoutes(
    {
      version: "1.2.3",
      node: "n1",
      latest: createLatestValues(() => 0),
      self: { text: async () => "" },
      states: [newCollectorState("host", "poll", 1000)],
      health: () => ({
        version: "1.2.3",
        clockSteps: 0,
        collectors: [],
        store: { bufferedRows: 3, droppedRows: 0, flushes: 4, lastError: null, lastFlushDurationMs: 1, ...store },
        otlp: { spans: {}, refused: [] },
        live: { passes: 0, failures: 0, durationMs: null },
      }),
      found: () => [],
    },
    [],
  );
const answer = async (store: Partial<StoreHealth>, path: string) =>
  await routesWith(store)
    .find((r) => r.path === path)!
    .answer(new URLSearchParams());

describe("agentRoutes", () => {
  it("is not ready while the database cannot be written, and says why", async () => {
    expect(await answer({}, "/readyz")).toMatchObject({ status: 200 });
    expect(await answer({ lastError: "database or disk is full" }, "/readyz")).toMatchObject({
      status: 503,
      body: "the database cannot be written: database or disk is full\n",
    });
    expect(await answer({ flushes: 0 }, "/readyz")).toMatchObject({ status: 503 });
    expect((await answer({ lastError: "full", droppedRows: 7 }, "/metrics")).body).toContain("whyslow_store_writable 0\n");
    expect((await answer({ droppedRows: 7 }, "/metrics")).body).toContain("whyslow_store_dropped_rows_total 7\n");
  });

  it("shows a collector that has not run yet as unknown, not as failed", async () => {
    const { collectors } = JSON.parse((await answer({}, "/api/v1/collectors")).body) as { collectors: unknown[] };
    expect(collectors).toEqual([
      expect.objectContaining({ name: "host", status: "waiting", success: null, last_success: null, found: null }),
    ]);
  });
});
