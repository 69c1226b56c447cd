import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { RequestView } from "../../schemas/requests.js";
import { estimateClockOffset } from "../../src/time/clock-offset.js";
import { toRequestColumns } from "../../src/time/request-columns.js";

const view = (over: Partial<RequestView>): RequestView => ({
  request_id: "r",
  join_id: "r",
  view: "client",
  span_key: "",
  server: {},
  model: null,
  scheduled_us: null,
  start_us: 0,
  first_token_us: null,
  end_us: null,
  ttft_ms: null,
  e2e_ms: null,
  tokenize_ms: null,
  queue_ms: null,
  prefill_ms: null,
  decode_ms: null,
  transfer_ms: null,
  input_tokens: null,
  output_tokens: null,
  cached_tokens: null,
  max_tokens: null,
  gaps_ms: null,
  status: "ok",
  error: null,
  warmup: false,
  conversation_id: null,
  turn_index: null,
  route: null,
  task_type: null,
  ...over,
});

/** Both views of request i: sent at i s, `delay` later at the server, whose clock is `offset` ahead. */
const pair = (i: number, offset: number, delay: number, back: number): RequestView[] => {
  const sent = 1_000_000 * i;
  const token = sent + delay + 50_000;
  const end = token + 200_000;
  const id = `cmpl-${i}`;
  return [
    view({
      request_id: id,
      join_id: id,
      start_us: sent,
      first_token_us: token + back,
      end_us: end + back,
      ttft_ms: (token + back - sent) / 1000,
    }),
    view({
      view: "server",
      request_id: `${id}-0`,
      join_id: id,
      start_us: sent + delay + offset,
      first_token_us: token + offset,
      end_us: end + offset,
      ttft_ms: 50,
      queue_ms: 1,
      server: { pod: "llm-0" },
    }),
  ];
};

describe("client and server views", () => {
  it("are joined without the choice suffix, on the server's axis, with the client's latency", () => {
    const views = [3000, 7000, 5600, 9000, 4000, 8000].flatMap((delay, i) => pair(i, 40_000, delay, 1500));
    const { requests, clock } = toRequestColumns(views);
    expect(requests.n).toBe(6);
    expect(clock).toEqual({ offset_ms: 43, uncertainty_ms: 4.5, method: "min-delay", joined: 6 });
    expect(requests.request_id[0]).toBe("cmpl-0");
    expect([...requests.seen_by]).toEqual([3, 3, 3, 3, 3, 3]);
    expect(requests.sent_us[1]).toBe(1_043_000);
    expect(requests.arrival_us[1]).toBe(1_047_000);
    expect(requests.ttft_ms[1]).toBeCloseTo(58.5);
    expect(requests.server_ttft_ms[1]).toBe(50);
    expect(requests.servers).toEqual([{ pod: "llm-0" }]);
  });

  it("never estimate an offset from fewer than five pairs", () => {
    const { clock, requests } = toRequestColumns([0, 1].flatMap((i) => pair(i, 40_000, 3000, 1500)));
    expect(clock).toMatchObject({ offset_ms: null, method: "none", joined: 2 });
    expect(requests.n).toBe(2);
  });

  it("bound the true offset whatever the delays", () => {
    const delays = fc.array(fc.tuple(fc.integer({ min: 0, max: 90_000 }), fc.integer({ min: 0, max: 90_000 })), {
      minLength: 5,
      maxLength: 30,
    });
    fc.assert(
      fc.property(delays, fc.integer({ min: -5_000_000, max: 5_000_000 }), (ds, offset) => {
        const pairs = ds.map(([up, down], i) => {
          const sent = i * 1e6;
          const token = sent + up + 10_000;
          return {
            client_sent_us: sent,
            server_arrival_us: sent + up + offset,
            client_first_token_us: token + down,
            server_first_token_us: token + offset,
            client_end_us: Number.NaN,
            server_end_us: Number.NaN,
          };
        });
        const e = estimateClockOffset(pairs)!;
        return e.offset_ms * 1000 >= offset - 1e-6 && (e.offset_ms - e.uncertainty_ms) * 1000 <= offset + 1e-3;
      }),
    );
  });

  it("make one request of the choices of one answer, and two of a retry", () => {
    const choice = (n: number, start: number, end: number): RequestView =>
      view({
        view: "server",
        request_id: `cmpl-a-${n}`,
        join_id: "cmpl-a",
        start_us: start,
        end_us: end,
        e2e_ms: (end - start) / 1000,
        output_tokens: 10,
      });
    const one = toRequestColumns([choice(1, 10, 4000), choice(0, 0, 3000)]).requests;
    expect(one.n).toBe(1);
    expect(one.end_us[0]).toBe(4000);
    expect(one.output_tokens[0]).toBe(20);
    const retry = view({ request_id: "x", join_id: "x", start_us: 0, end_us: 5 });
    expect(toRequestColumns([retry, { ...retry, start_us: 100, end_us: 140 }]).requests.n).toBe(2);
  });

  it("keep gaps with their request and sort by arrival", () => {
    const { requests } = toRequestColumns([
      view({ request_id: "b", join_id: "b", start_us: 20, gaps_ms: Float32Array.of(5, 6) }),
      view({ request_id: "c", join_id: "c", start_us: 30, status: "open" }),
      view({ request_id: "a", join_id: "a", start_us: 10, gaps_ms: Float32Array.of(1) }),
    ]);
    expect(requests.request_id).toEqual(["a", "b", "c"]);
    expect([...requests.gap_offset]).toEqual([0, 1, 3, 3]);
    expect([...requests.gap_ms]).toEqual([1, 5, 6]);
    expect(requests.status[2]).toBe(4);
    expect(requests.server[0]).toBe(-1);
  });
});
