import type { DiagnosisInput } from "../schemas/diagnosis-input.js";
import type { EntityRef } from "../schemas/samples.js";
import type { Mark, TelemetrySource, Track } from "../schemas/telemetry.js";

const T0_US = 1_788_440_000_000_000;
const GPUS = 8;

/** A repeatable stream of numbers in [0, 1): the same run every time. */
function stream(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

export interface SyntheticRun {
  readonly requests: number;
  readonly seconds: number;
  readonly gaps_per_request: number;
  /** Stretches of `seconds` / 100 in which the first token comes late and the queue grows. */
  readonly bursts: number;
}

/** A run of any size as the diagnosis takes it: one server on eight GPUs, sampled at 1 Hz, with bursts of long prompts. For size and speed alone. */
export function syntheticRun({ requests: n, seconds, gaps_per_request, bursts }: SyntheticRun): DiagnosisInput {
  const random = stream(7);
  const burst = (s: number): number => {
    const place = (s / seconds) * bursts;
    return bursts > 0 && place % 1 > 0.5 && place % 1 < 0.5 + bursts / 100 ? Math.sin(((place % 1) - 0.5) * (100 / bursts) * Math.PI) : 0;
  };
  const column = (fill = Number.NaN): Float64Array => new Float64Array(n).fill(fill);
  const arrival = column();
  const first = column();
  const end = column();
  const ttft = column();
  const e2e = column();
  const input = column();
  const output = column();
  const queue = column();
  const gap_ms = new Float32Array(n * gaps_per_request);
  for (let i = 0; i < n; i++) arrival[i] = T0_US + Math.floor(((i + random()) / n) * seconds * 1e6);
  arrival.sort();
  for (let i = 0; i < n; i++) {
    const late = burst((arrival[i]! - T0_US) / 1e6);
    queue[i] = late * 2500 * (0.5 + random()) + random();
    input[i] = Math.floor(200 + 1000 * random() ** 3 + late * 3000);
    output[i] = Math.floor(20 + 180 * random());
    ttft[i] = queue[i]! + 15 + input[i]! * 0.05 * (0.8 + 0.4 * random());
    for (let k = 0; k < gaps_per_request; k++) gap_ms[i * gaps_per_request + k] = 6 + 2 * random() + late * 60 * random();
    e2e[i] = ttft[i]! + output[i]! * (7 + 20 * late + random());
    first[i] = arrival[i]! + Math.round(ttft[i]! * 1000);
    end[i] = arrival[i]! + Math.round(e2e[i]! * 1000);
  }
  return {
    run: {
      id: `synthetic-${n}`,
      start_us: T0_US,
      end_us: T0_US + seconds * 1e6,
      manifest: { model: "synthetic", engine: "vllm", gpu_count: String(GPUS), gpu_model: "NVIDIA H100 80GB HBM3" },
    },
    requests: {
      n,
      request_id: Array.from({ length: n }, (_, i) => `req-${i.toString(16).padStart(8, "0")}-4b1d-8c2f`),
      server: new Int32Array(n),
      servers: [{ service: "llm-0" }],
      models: ["synthetic"],
      model: new Int32Array(n),
      routes: [],
      route: new Int32Array(n).fill(-1),
      scheduled_us: column(),
      sent_us: arrival,
      arrival_us: arrival,
      first_token_us: first,
      end_us: end,
      ttft_ms: ttft,
      e2e_ms: e2e,
      server_ttft_ms: ttft,
      tokenize_ms: column(),
      queue_ms: queue,
      prefill_ms: column(),
      decode_ms: column(),
      transfer_ms: column(),
      input_tokens: input,
      output_tokens: output,
      cached_tokens: column(0),
      max_tokens: column(),
      status: new Uint8Array(n),
      warmup: new Uint8Array(n),
      seen_by: new Uint8Array(n).fill(3),
      gap_offset: Uint32Array.from({ length: n + 1 }, (_, i) => i * gaps_per_request),
      gap_ms,
    },
    telemetry: { tracks: tracks(seconds, burst, random), histograms: [], marks: marks(seconds) },
    clock: { offset_ms: 0.4, uncertainty_ms: 1.2, method: "min-delay", joined: n },
    warnings: [],
    slo_ms: {},
  };
}

function tracks(seconds: number, burst: (s: number) => number, random: () => number): Track[] {
  const make = (name: string, entity: EntityRef, columns: Readonly<Record<string, (s: number, before: number) => number>>): Track => {
    const source: TelemetrySource = {
      name,
      node: "node-a",
      imported: true,
      interval_ms: 1000,
      window_ms: null,
      lag_ms: null,
      rejected: {},
    };
    const made = Object.entries(columns).map(([column, value]) => {
      const values = new Float64Array(seconds);
      for (let s = 0; s < seconds; s++) values[s] = value(s, s === 0 ? 0 : values[s - 1]!);
      return [column, values] as const;
    });
    return {
      source,
      entity,
      ts_us: Float64Array.from({ length: seconds }, (_, s) => T0_US + s * 1e6 + 1000 * (s % 7)),
      epoch: new Int32Array(seconds),
      columns: Object.fromEntries(made),
    };
  };
  const entity = (kind: EntityRef["kind"], key: string, labels: Record<string, string>): EntityRef => ({
    kind,
    node: "node-a",
    key,
    labels,
  });
  const noise = (): number => random() - 0.5;
  const gpus = Array.from({ length: GPUS }, (_, g) =>
    make("dcgm-exporter", entity("gpu", `GPU-0000000${g}`, { index: String(g), model: "NVIDIA H100 80GB HBM3", pod: "llm-0" }), {
      sm_active_ratio: (s) => 0.7 + 0.2 * burst(s) + 0.1 * noise(),
      tensor_active_ratio: (s) => 0.15 + 0.5 * burst(s) + 0.05 * noise(),
      dram_active_ratio: (s) => 0.6 - 0.3 * burst(s) + 0.1 * noise(),
      power_w: (s) => 420 + 200 * burst(s) + 20 * noise(),
      sm_clock_mhz: () => 1980 - 15 * Math.floor(2 * random()),
    }),
  );
  const server = make("vllm", entity("server", "vllm:llm-0/0", { engine: "vllm", pod: "llm-0", model: "synthetic" }), {
    waiting: (s) => Math.round(40 * burst(s)),
    running: (s) => Math.round(30 + 60 * burst(s) + 4 * noise()),
    kv_usage_ratio: (s) => 0.3 + 0.5 * burst(s),
  });
  const host = make("node_exporter", entity("host", "node-a", {}), {
    cpu_user_s_total: (_, before) => before + 5 + noise(),
    cpu_system_s_total: (_, before) => before + 1,
    psi_cpu_some_s_total: (_, before) => before + 0.01 * random(),
  });
  return [...gpus, host, server];
}

const marks = (seconds: number): Mark[] => [
  { ts_us: T0_US + Math.floor(seconds / 3) * 1e6, node: "node-a", kind: "user", text: "traffic shifted from replica 2" },
];
