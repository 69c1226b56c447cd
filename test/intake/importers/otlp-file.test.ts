import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { FIXTURES, importInto, temporaryFolder } from "../run-import.js";

describe("OTLP/JSON files", () => {
  it("of the Collector: one TracesData a line, broken spans and lines counted alone, no content kept", async () => {
    const { sink, outcome } = await importInto([path.join(FIXTURES, "otlp/vllm-0.11/traces.jsonl")]);
    expect(outcome.files[0]).toMatchObject({
      format: "otlp-file",
      requests: 1,
      rejected: { end_before_start: 1, not_traces: 1, syntax: 1, truncated: 1 },
    });
    expect(sink.views[0]).toMatchObject({
      start_us: 1768932686520053,
      first_token_us: 1768932686834299,
      server: { service: "vllm-a", pod: "llm-0" },
    });
    expect(JSON.stringify(sink)).not.toContain("the prompt");
  });

  it("of one request over many lines", async () => {
    const { sink, outcome } = await importInto([path.join(FIXTURES, "otlp/one-document/request.json")]);
    expect(outcome.files[0]).toMatchObject({ requests: 1, rejected: {} });
    expect(sink.views[0]).toMatchObject({
      span_key: "5b8efff798038103d269b633813fc60c/eee19b7ec3c1b174",
      start_us: 1768932686520053,
      end_us: 1768932688265530,
      input_tokens: 12,
    });
  });

  it("without an LLM request say so; a cut document is refused", async () => {
    const { folder, remove } = temporaryFolder();
    try {
      const document = fs.readFileSync(path.join(FIXTURES, "otlp/one-document/request.json"), "utf8");
      const foreign = path.join(folder, "foreign.json");
      fs.writeFileSync(foreign, document.replace('"llm_request"', '"GET /"'));
      expect((await importInto([foreign])).outcome.files[0]?.warnings).toEqual(["2 spans, none of which is an LLM request"]);
      const cut = path.join(folder, "cut.json");
      fs.writeFileSync(cut, document.slice(0, 500));
      await expect(importInto([cut])).rejects.toMatchObject({ code: "FILE_FORMAT" });
    } finally {
      remove();
    }
  });
});
