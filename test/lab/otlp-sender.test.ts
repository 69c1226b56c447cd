import { afterEach, describe, expect, it } from "vitest";
import { OtlpSender } from "../../lab/otlp-sender.js";
import { llmRequestSpan } from "../../lab/request-records.js";
import { createOtlpGrpcReceiver } from "../../src/intake/otlp-grpc-receiver.js";
import { createOtlpHttpReceiver } from "../../src/intake/otlp-http-receiver.js";
import { InferenceNode } from "../../src/sim/inference-node.js";
import { DEFAULT_SERVER, DEFAULT_WORKLOAD } from "../../src/sim/scenario.js";
import { MemorySink } from "../intake/memory-sink.js";

const EPOCH_US = 1_790_000_000_000_000;
const SOURCE = { name: "otlp", node: "n1", run: null, interval_ms: null, window_ms: null, lag_ms: null };
const node = new InferenceNode({ seed: 1, server: DEFAULT_SERVER, workload: DEFAULT_WORKLOAD, faults: [] });
node.advance(60e6, 10e6);
const { requests } = node;
const spans = requests.map((r) => llmRequestSpan(r, EPOCH_US));

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

describe("the lab's traces", () => {
  it.each(["grpc", "http/protobuf", "http/json"])("arrive as requests over %s", async (way) => {
    const sink = new MemorySink();
    const create = way === "grpc" ? createOtlpGrpcReceiver : createOtlpHttpReceiver;
    const receiver = create({ host: "127.0.0.1", port: 0, sink, source: SOURCE, accepting: () => true });
    const { port } = await receiver.start();
    const sender = new OtlpSender();
    closers.push(
      () => sender.stop(),
      () => receiver.stop(),
    );
    sender.setTarget(`${way === "grpc" ? "grpc" : "http"}://127.0.0.1:${port}${way === "http/json" ? "?json" : ""}`);
    sender.add(spans);
    await sender.flush();
    expect(sender.sent).toBe(spans.length);
    expect(sender.failures).toBe(0);
    expect(sink.views).toHaveLength(requests.length);
    for (const [i, view] of sink.views.entries()) {
      const request = requests[i]!;
      expect(view.request_id).toBe(request.id);
      expect(view.start_us).toBe(EPOCH_US + request.at_us);
      expect(view.ttft_ms).toBeCloseTo((request.emit_us[0]! - request.at_us) / 1000, 3);
      expect(view.e2e_ms).toBeCloseTo((request.end_us - request.at_us) / 1000, 3);
      expect(view.queue_ms).toBeCloseTo((request.scheduled_us - request.queued_us) / 1000, 3);
      expect(view.input_tokens).toBe(request.prompt_tokens);
      expect(view.output_tokens).toBe(request.output_tokens);
      expect(view.server.pod).toBe("llm-0");
    }
  });

  it("are kept and tried again while nobody takes them", async () => {
    const sender = new OtlpSender();
    closers.push(() => sender.stop());
    sender.setTarget("http://127.0.0.1:9");
    sender.add(spans.slice(0, 3));
    await sender.flush();
    expect(sender.failures).toBe(1);
    expect(sender.sent).toBe(0);
    const sink = new MemorySink();
    const receiver = createOtlpHttpReceiver({ host: "127.0.0.1", port: 0, sink, source: SOURCE, accepting: () => true });
    closers.push(() => receiver.stop());
    sender.setTarget(`http://127.0.0.1:${(await receiver.start()).port}`);
    await sender.flush();
    expect(sink.views).toHaveLength(3);
  });
});
