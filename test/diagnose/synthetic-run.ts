import type { DiagnosisInput, EntityKind, RequestColumns, TelemetrySource, Track } from "../../schemas/index.js";

/** A hand-made run: plain requests at a steady rate, levels of telemetry that a fault replaces in its window. No physics. */
export interface Fault {
  /** Seconds from the start. */
  readonly from: number;
  readonly to: number;
  /** Added to TTFT of requests that arrive in the window, ms. */
  readonly ttft_ms?: number;
  /** Factor on the time per output token of requests in the window. */
  readonly tpot?: number;
  /** Where the wait for the first token shows: in the server's queue, in its prefill, or not at all. */
  readonly waits?: "queue" | "prefill" | "outside";
  /** Levels by column in the window. Counters: rates per second. */
  readonly levels?: Readonly<Record<string, number>>;
}

export interface RunOptions {
  readonly seconds?: number;
  readonly rate?: number;
  readonly gpus?: number;
  readonly interval_s?: number;
  readonly faults?: readonly Fault[];
  /** Columns that no source has. */
  readonly without?: RegExp;
  readonly noise?: number;
  readonly view?: "client" | "server";
  readonly status?: (i: number) => number;
}

const START = 1_790_000_000_000_000;
const S = 1_000_000;

/** Deterministic noise: a fixed linear congruential sequence, mapped to about a normal distribution. */
export const noiseFrom = (seed: number): (() => number) => {
  let x = seed >>> 0;
  const uniform = () => {
    x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
    return x / 2 ** 32;
  };
  return () => uniform() + uniform() + uniform() + uniform() + uniform() + uniform() - 3;
};

const GPU: Readonly<Record<string, number>> = {
  gr_engine_active_ratio: 0.92,
  sm_active_ratio: 0.75,
  tensor_active_ratio: 0.1,
  dram_active_ratio: 0.5,
  gpu_util_ratio: 0.95,
  mem_util_ratio: 0.45,
  power_w: 330,
  sm_clock_mhz: 1980,
  clocks_event_mask: 0,
};
const PROCESS: Readonly<Record<string, number>> = {
  cpu_s_total: 0.4,
  cfs_periods_total: 10,
  cfs_throttled_periods_total: 0,
  psi_cpu_some_s_total: 0.02,
};
const SERVER: Readonly<Record<string, number>> = { kv_usage_ratio: 0.3, preemptions_total: 0, process_cpu_s_total: 0.3 };
const NOISY: ReadonlySet<string> = new Set([
  "gr_engine_active_ratio",
  "sm_active_ratio",
  "tensor_active_ratio",
  "dram_active_ratio",
  "gpu_util_ratio",
  "mem_util_ratio",
  "kv_usage_ratio",
]);

const source = (name: string): TelemetrySource => ({
  name,
  node: "",
  imported: true,
  interval_ms: null,
  window_ms: null,
  lag_ms: 0,
  rejected: {},
});

const requestsOf = (
  o: Required<Pick<RunOptions, "seconds" | "rate" | "noise" | "view">> & RunOptions,
): { columns: RequestColumns; waits: (Fault["waits"] | null)[] } => {
  const n = Math.floor(o.seconds * o.rate);
  const gauss = noiseFrom(11);
  const nan = () => new Float64Array(n).fill(Number.NaN);
  const c = { sent: nan(), first: nan(), end: nan(), ttft: nan(), e2e: nan(), input: nan(), output: nan() };
  const waits: (Fault["waits"] | null)[] = [];
  for (let i = 0; i < n; i++) {
    const t = i / o.rate;
    const fault = o.faults?.find((f) => t >= f.from && t < f.to);
    c.input[i] = 400 + ((i * 37) % 1200);
    c.output[i] = 80 + ((i * 53) % 60);
    const ttft = (20 + 0.02 * c.input[i]!) * Math.exp(o.noise * gauss()) + (fault?.ttft_ms ?? 0) * (1 + 0.1 * gauss());
    const tpot = 10 * Math.exp(0.5 * o.noise * gauss()) * (fault?.tpot ?? 1);
    c.ttft[i] = ttft;
    c.e2e[i] = ttft + (c.output[i]! - 1) * tpot;
    c.sent[i] = START + Math.round(t * S);
    c.first[i] = c.sent[i]! + Math.round(ttft * 1000);
    c.end[i] = c.sent[i]! + Math.round(c.e2e[i]! * 1000);
    waits.push(fault?.waits ?? null);
  }
  const server = o.view === "server";
  const columns: RequestColumns = {
    n,
    request_id: Array.from({ length: n }, (_, i) => `req-${String(i).padStart(5, "0")}`),
    server: new Int32Array(n).fill(server ? 0 : -1),
    servers: server ? [{ pod: "llm-0" }] : [],
    models: [],
    model: new Int32Array(n).fill(-1),
    routes: [],
    route: new Int32Array(n).fill(-1),
    scheduled_us: nan(),
    sent_us: c.sent,
    arrival_us: c.sent,
    first_token_us: c.first,
    end_us: c.end,
    ttft_ms: c.ttft,
    e2e_ms: c.e2e,
    server_ttft_ms: server ? c.ttft : nan(),
    tokenize_ms: nan(),
    queue_ms: nan(),
    prefill_ms: nan(),
    decode_ms: nan(),
    transfer_ms: nan(),
    input_tokens: c.input,
    output_tokens: c.output,
    cached_tokens: nan(),
    max_tokens: nan(),
    status: Uint8Array.from({ length: n }, (_, i) => o.status?.(i) ?? 0),
    warmup: new Uint8Array(n),
    seen_by: new Uint8Array(n).fill(server ? 2 : 1),
    gap_offset: new Uint32Array(n + 1),
    gap_ms: new Float32Array(0),
  };
  return { columns, waits };
};

/** Number of intervals that hold `t`, among those that `keep` admits. */
const countAt = (from: Float64Array, to: Float64Array, t: number, keep: (i: number) => boolean): number => {
  let count = 0;
  for (let i = 0; i < from.length && from[i]! <= t; i++) if (to[i]! > t && keep(i)) count++;
  return count;
};

export const syntheticRun = (options: RunOptions = {}): DiagnosisInput => {
  const o = { seconds: 120, rate: 8, noise: 0.1, view: "client" as const, ...options };
  const { columns: q, waits } = requestsOf(o);
  const every = o.interval_s ?? 1;
  const stamps = Array.from({ length: Math.floor(o.seconds / every) }, (_, i) => START + Math.round((i + 1) * every * S));
  const tracks: Track[] = [];
  const gauss = noiseFrom(5);
  const add = (
    kind: EntityKind,
    key: string,
    name: string,
    labels: Record<string, string>,
    base: Readonly<Record<string, number>>,
    extra: Record<string, Float64Array> = {},
  ) => {
    const columns: Record<string, Float64Array> = { ...extra };
    for (const [column, level] of Object.entries(base)) {
      let total = 1000;
      let last = 0;
      columns[column] = Float64Array.from(stamps, (ts) => {
        const t = (ts - START) / S;
        // A reading is the mean over its window: take it in ten slices.
        let value = 0;
        for (let k = 0; k < 10; k++) {
          const at = t - every * (k / 10 + 0.05);
          const fault = o.faults?.find((f) => at >= f.from && at < f.to + (f.ttft_ms ?? 0) / 1000);
          value += (fault?.levels?.[column] ?? level) / 10;
        }
        if (column.endsWith("_mask")) return Math.round(value);
        if (column.endsWith("_total")) {
          total += value * (t - last);
          last = t;
          return total;
        }
        return NOISY.has(column) ? Math.min(1, Math.max(0, value + 0.01 * gauss())) : value;
      });
    }
    for (const column of Object.keys(columns)) if (o.without?.test(`${kind}.${column}`) === true) delete columns[column];
    if (Object.keys(columns).length > 0)
      tracks.push({
        source: source(name),
        entity: { kind, node: "", key, labels },
        ts_us: Float64Array.from(stamps),
        epoch: new Int32Array(stamps.length),
        columns,
      });
  };
  for (let g = 0; g < (o.gpus ?? 1); g++)
    add("gpu", `GPU-${g}`, "dcgm-exporter", { index: String(g), model: "NVIDIA H100 80GB HBM3", pod: "llm-0" }, GPU);
  add("process", "container:llm/llm-0/inference", "cadvisor", { role: "container", pod: "llm-0" }, PROCESS);
  const level = (f: (ts: number) => number) => Float64Array.from(stamps, f);
  add("server", "vllm:llm-0/0", "vllm", { engine: "vllm", pod: "llm-0" }, SERVER, {
    waiting: level((ts) => countAt(q.sent_us, q.first_token_us, ts, (i) => waits[i] === "queue")),
    running: level(
      (ts) =>
        countAt(q.first_token_us, q.end_us, ts, () => true) +
        countAt(q.sent_us, q.first_token_us, ts, (i) => waits[i] === "prefill" || waits[i] === null),
    ),
  });
  tracks.sort((a, b) => (a.entity.kind + a.entity.key < b.entity.kind + b.entity.key ? -1 : 1));
  return {
    run: { id: "synthetic", start_us: null, end_us: null, manifest: {} },
    requests: q,
    telemetry: { tracks, histograms: [], marks: [] },
    clock: { offset_ms: null, uncertainty_ms: null, method: "same-host", joined: 0 },
    warnings: [],
    slo_ms: {},
  };
};

/** One clear fault of every class, 20 s long in the middle of the run. */
const WINDOW = { from: 60, to: 80 } as const;
export const CLEAR: Readonly<Record<string, RunOptions>> = {
  compute: {
    faults: [
      {
        ...WINDOW,
        ttft_ms: 900,
        waits: "queue",
        levels: {
          tensor_active_ratio: 0.55,
          dram_active_ratio: 0.15,
          sm_active_ratio: 0.95,
          gr_engine_active_ratio: 0.99,
          power_w: 640,
          gpu_util_ratio: 1,
          mem_util_ratio: 0.12,
        },
      },
    ],
  },
  bandwidth: {
    faults: [
      {
        ...WINDOW,
        tpot: 2.4,
        levels: {
          dram_active_ratio: 0.86,
          tensor_active_ratio: 0.08,
          sm_active_ratio: 0.85,
          gr_engine_active_ratio: 0.98,
          gpu_util_ratio: 0.99,
          mem_util_ratio: 0.8,
        },
      },
    ],
  },
  kv_cache: { faults: [{ ...WINDOW, ttft_ms: 1500, waits: "queue", levels: { kv_usage_ratio: 0.99, dram_active_ratio: 0.55 } }] },
  cpu_tokenization: {
    faults: [
      {
        ...WINDOW,
        ttft_ms: 600,
        waits: "outside",
        levels: {
          cfs_throttled_periods_total: 8,
          psi_cpu_some_s_total: 0.5,
          gr_engine_active_ratio: 0.6,
          sm_active_ratio: 0.4,
          gpu_util_ratio: 0.6,
        },
      },
    ],
  },
  communication: {
    gpus: 4,
    faults: [
      {
        ...WINDOW,
        tpot: 3,
        levels: {
          tensor_active_ratio: 0.03,
          dram_active_ratio: 0.06,
          gr_engine_active_ratio: 0.99,
          sm_active_ratio: 0.9,
          power_w: 260,
          gpu_util_ratio: 1,
          mem_util_ratio: 0.06,
        },
      },
    ],
  },
};
