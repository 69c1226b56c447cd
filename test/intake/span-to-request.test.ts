import { describe, expect, it } from "vitest";
import type { Attributes, DecodedSpan } from "../../src/intake/decoded-span.js";
import { joinId } from "../../src/intake/join-id.js";
import { fixed64NsToUs, isAnchored, nsToUs, secondsToUs } from "../../src/intake/nanoseconds.js";
import { spanToRequest } from "../../src/intake/span-to-request.js";

const START = 1_768_932_686_520_053;
const span = (over: Partial<DecodedSpan> = {}): DecodedSpan => ({
  trace_id: "5b8efff798038103d269b633813fc60c",
  span_id: "eee19b7ec3c1b174",
  name: "llm_request",
  kind: 2,
  start_us: START,
  end_us: START + 1_745_476,
  status: 0,
  attributes: {},
  resource: {},
  ...over,
});
const VLLM: Attributes = {
  "gen_ai.request.id": "cmpl-95322c5d4c214b019e108d96a27f8707-0",
  "gen_ai.latency.time_to_first_token": 0.3142457,
  "gen_ai.latency.e2e": 1.745259284973,
  "gen_ai.latency.time_in_queue": 0.000021,
  "gen_ai.latency.time_in_model_prefill": 0.311593,
  "gen_ai.latency.time_in_model_decode": 1.43106,
  "gen_ai.usage.prompt_tokens": 2998,
  "gen_ai.usage.completion_tokens": 56,
  "gen_ai.request.max_tokens": 56,
};
const requestOf = (over: Partial<DecodedSpan>) => {
  const verdict = spanToRequest(span(over));
  if (verdict.kind !== "request") throw new Error(`not a request: ${verdict.kind}`);
  return verdict.view;
};

describe("spanToRequest", () => {
  it("reads vLLM's llm_request: the start is the arrival, the rest is counted from it", () => {
    const view = requestOf({
      attributes: VLLM,
      resource: { "k8s.pod.name": "llm-0", "k8s.namespace.name": "llm", "service.name": "vllm", "service.instance.id": "i-1" },
    });
    expect(view).toMatchObject({
      request_id: "cmpl-95322c5d4c214b019e108d96a27f8707-0",
      join_id: "95322c5d4c214b019e108d96a27f8707",
      view: "server",
      span_key: "5b8efff798038103d269b633813fc60c/eee19b7ec3c1b174",
      server: { pod: "llm-0", namespace: "llm", service: "vllm", instance: "i-1" },
      model: null,
      start_us: START,
      first_token_us: START + 314_246,
      end_us: START + 1_745_259,
      input_tokens: 2998,
      output_tokens: 56,
      max_tokens: 56,
      status: "ok",
    });
    expect(view.prefill_ms).toBeCloseTo(311.593, 9);
    expect(view.queue_ms).toBeCloseTo(0.021, 9);
  });

  it("takes phases from mixed clocks (vLLM V0), longer than the whole, negative or of another type as not measured", () => {
    for (const wrong of [1_713_341_834.48, 1.8, -0.1, "0.2", true])
      expect(requestOf({ attributes: { ...VLLM, "gen_ai.latency.time_in_queue": wrong } }).queue_ms).toBeNull();
    const view = requestOf({ attributes: { ...VLLM, "gen_ai.latency.e2e": 1_713_341_834.48 } });
    expect(view).toMatchObject({ e2e_ms: 1745.476, end_us: START + 1_745_476 });
  });

  it("refuses clocks that count from the machine's start", () => {
    expect(spanToRequest(span({ attributes: VLLM, start_us: 10_000_000, end_us: 11_500_000 }))).toEqual({
      kind: "rejected",
      reason: "clock_not_anchored",
    });
  });

  it("ignores spans that are no generation", () => {
    for (const over of [
      { name: "Load model" },
      { name: "GET /health" },
      { name: "embeddings m", kind: 3, attributes: { "gen_ai.operation.name": "embeddings" } },
      { name: "chat m", kind: 1, attributes: { "gen_ai.operation.name": "chat" } },
    ])
      expect(spanToRequest(span(over))).toEqual({ kind: "ignored" });
  });

  it("reads a GenAI client span as the client's view: the server is the peer, never the client's own resource", () => {
    const view = requestOf({
      name: "chat llama",
      kind: 3,
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.response.id": "chatcmpl-abc",
        "gen_ai.request.model": "llama",
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 20,
        "gen_ai.conversation.id": "c1",
        "server.address": "10.0.0.7",
        "server.port": 8000,
      },
      resource: { "service.name": "shop", "k8s.pod.name": "shop-1" },
    });
    expect(view).toMatchObject({
      view: "client",
      join_id: "abc",
      server: { url: "10.0.0.7:8000", model: "llama" },
      route: "shop",
      model: "llama",
      input_tokens: 10,
      output_tokens: 20,
      conversation_id: "c1",
      ttft_ms: null,
      e2e_ms: 1745.476,
    });
  });

  it("reads SGLang's root span, whose prefill contains the queue and so is none", () => {
    const view = requestOf({
      name: "unified Req 1a2b3c4d",
      kind: 1,
      attributes: { module: "sglang::request", rid: "1a2b3c4d5e", "gen_ai.latency.time_in_model_prefill": 0.5, "gen_ai.latency.e2e": 1.5 },
    });
    expect(view).toMatchObject({ view: "server", request_id: "1a2b3c4d5e", prefill_ms: null, e2e_ms: 1500 });
  });

  it.each([
    ["ok", {}, 1],
    ["error", {}, 2],
    ["error", { "error.type": "500" }, 0],
    ["timeout", { "error.type": "TimeoutError" }, 2],
    ["cancelled", { "error.type": "CancelledError" }, 2],
    ["cancelled", { "gen_ai.response.finish_reasons": ["abort"] }, 0],
  ])("status %s", (status, attributes, code) => {
    expect(requestOf({ attributes: attributes as Attributes, status: code }).status).toBe(status);
  });
});

describe("joinId", () => {
  const uuid = "1ed40a0d-6a54-4c2e-9b1f-7f0e8f3a2b10";
  it.each([
    ["cmpl-95322c5d4c214b019e108d96a27f8707-0", "span", "95322c5d4c214b019e108d96a27f8707"],
    ["cmpl-95322c5d4c214b019e108d96a27f8707", "response", "95322c5d4c214b019e108d96a27f8707"],
    [`cmpl-${uuid}-1`, "span", uuid],
    [`chatcmpl-${uuid}`, "span", uuid],
    [`chatcmpl-${uuid}-1`, "span", uuid],
    [uuid, "response", uuid],
    ["cmpl-order-12", "response", "order-12"],
    ["cmpl-order-12-0", "span", "order-12"],
    ["chatcmpl-order-12", "span", "order-12"],
    ["req-109-00", "span", "req-109-00"],
  ] as const)("%s in a %s gives %s", (id, origin, joined) => {
    expect(joinId(id, origin)).toBe(joined);
  });
});

describe("times", () => {
  it("are read without loss", () => {
    expect(nsToUs("1788436000182716999")).toBe(1788436000182716);
    expect(nsToUs(1788436000182716999n)).toBe(1788436000182716);
    expect(nsToUs("999")).toBe(0);
    for (const wrong of ["", "-1", "1.5", "1e18", "x", -1, Number.NaN, null, undefined, {}, -5n]) expect(nsToUs(wrong)).toBeNull();
    const ns = 1788436000182716999n;
    expect(fixed64NsToUs(Number(ns & 0xffffffffn), Number(ns >> 32n))).toBe(1788436000182716);
    expect(secondsToUs(1768932686.4886694)).toBe(1768932686488669);
    expect(secondsToUs("1")).toBeNull();
    expect([isAnchored(1e6), isAnchored(START), isAnchored(9e15)]).toEqual([false, true, false]);
  });
});
