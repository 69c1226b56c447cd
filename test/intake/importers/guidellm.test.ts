import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { FIXTURES, HAS_SHARED, importInto, SHARED, temporaryFolder } from "../run-import.js";

describe("GuideLLM reports", () => {
  it("0.6: several benchmarks, all outcomes, the prompt dropped, gaps unknown", async () => {
    const { sink, outcome } = await importInto([path.join(FIXTURES, "guidellm/0.6/report.json")]);
    expect(outcome.files[0]).toMatchObject({ format: "guidellm", requests: 4, rejected: { start_time: 1 } });
    expect(sink.views.map((v) => [v.request_id, v.status])).toEqual([
      ["cmpl-95322c5d4c214b019e108d96a27f8707", "ok"],
      ["e1", "error"],
      ["i1", "cancelled"],
      ["chatcmpl-2", "ok"],
    ]);
    expect(sink.views[0]).toMatchObject({
      join_id: "95322c5d4c214b019e108d96a27f8707",
      scheduled_us: 1768932686487644,
      start_us: 1768932686488669,
      first_token_us: 1768932686836209,
      end_us: 1768932688267517,
      ttft_ms: 347.53918647766113,
      e2e_ms: 1778.8474559783936,
      server: { url: "192.0.2.10:8000", model: "llama" },
      gaps_ms: null,
    });
    // first to last token, from the mean gap over N - 1 gaps
    expect(sink.views[0]?.decode_ms).toBeCloseTo(1431.0554, 3);
    expect(sink.views[2]?.end_us).toBeNull();
    expect(JSON.stringify(sink)).not.toMatch(/the prompt|the answer/);
  });

  it("0.3: a single record with the flat layout", async () => {
    const { sink } = await importInto([path.join(FIXTURES, "guidellm/0.3/record.json")]);
    expect(sink.views[0]).toMatchObject({
      start_us: 1759354691718220,
      first_token_us: 1759354692982763,
      end_us: 1759354695648075,
      scheduled_us: 1759354691715061,
      ttft_ms: 1264.543056488037,
    });
    expect(sink.views[0]?.decode_ms).toBeCloseTo(2665.157, 2);
  });

  it("a report that is cut is refused as a whole, with one line", async () => {
    const { folder, remove } = temporaryFolder();
    try {
      const cut = path.join(folder, "cut.json");
      fs.writeFileSync(cut, fs.readFileSync(path.join(FIXTURES, "guidellm/0.6/report.json")).subarray(0, 900));
      await expect(importInto([cut])).rejects.toMatchObject({ code: "FILE_FORMAT" });
    } finally {
      remove();
    }
  });

  describe.skipIf(!HAS_SHARED)("the real report (shared samples beside the repository)", () => {
    it("gives its fifty requests, which are the server's spans of the same run", async () => {
      const { sink, outcome } = await importInto([
        path.join(SHARED, "samples/benchmarks/guidellm-0.6.0.dev2-sweep-trimmed.json"),
        path.join(SHARED, "samples/otlp/vllm-0.11.0-v1-collector-file-prefill.jsonl"),
      ]);
      expect(outcome.files.map((f) => [f.requests, f.rejected])).toEqual([
        [50, {}],
        [197, {}],
      ]);
      const server = new Map(sink.views.filter((v) => v.view === "server").map((v) => [v.join_id, v]));
      const delaysMs = sink.views
        .filter((v) => v.view === "client")
        .map((v) => ((server.get(v.join_id)?.start_us ?? Number.NaN) - v.start_us) / 1000)
        .sort((a, b) => a - b);
      expect(delaysMs).toHaveLength(50);
      expect(delaysMs[0]).toBeCloseTo(5.6, 1);
      expect(delaysMs[25]).toBeCloseTo(7.7, 1);
    });
  });
});
