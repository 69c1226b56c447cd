import type { HttpResult, ServerTarget } from "../../schemas/collector.js";

/** Where inference servers usually serve their metrics: vLLM, Triton and TRT-LLM 8000-8002, SGLang 30000, TGI 3000, llama.cpp 8080, Dynamo 8081, LMDeploy 23333, LiteLLM 4000. */
export const USUAL_PORTS: readonly number[] = [8000, 30_000, 8001, 8002, 3000, 8080, 8081, 23_333, 4000];

const PROBE_TIMEOUT_MS = 1500;
/** Whoever answers on a usual port without being an inference server is not asked again before this. */
const STRANGER_PAUSE_MS = 600_000;

/** Recognised by the names of its metrics; an engine that is hosted by another (Triton, Dynamo) is the one that counts. */
const ENGINES: readonly { readonly engine: string; readonly names: RegExp }[] = [
  { engine: "vllm", names: /^(?:# TYPE )?(?:ray_)?vllm[:_]/m },
  { engine: "sglang", names: /^(?:# TYPE )?sglang[:_]/m },
  { engine: "trtllm", names: /^(?:# TYPE )?trtllm[:_]/m },
  { engine: "lmdeploy", names: /^(?:# TYPE )?lmdeploy:/m },
  { engine: "llamacpp", names: /^(?:# TYPE )?llamacpp:/m },
  { engine: "tgi", names: /^(?:# TYPE )?tgi_/m },
  { engine: "dynamo", names: /^(?:# TYPE )?dynamo_/m },
  { engine: "triton", names: /^(?:# TYPE )?nv_(?:inference|trt_llm)_/m },
  { engine: "litellm", names: /^(?:# TYPE )?litellm_/m },
];

/** trtllm-serve's own page: iteration records in JSON. */
const TRTLLM_JSON = /^\s*\[\s*\{[\s\S]*?"(?:iterLatencyMS|kvCacheStats)"\s*:/;

/** The engine whose metrics a page shows; null when it is no inference server's. */
export const recogniseEngine = (page: string): string | null =>
  ENGINES.find(({ names }) => names.test(page))?.engine ?? (TRTLLM_JSON.test(page) ? "trtllm" : null);

/** A front end that was seen among the processes. */
export interface SeenProcess {
  readonly pid: number;
  readonly port: number | null;
}

export interface DiscoveryDeps {
  get(url: string, timeoutMs: number): Promise<HttpResult>;
  processes(): Promise<readonly SeenProcess[]>;
  nowMs(): number;
  readonly ports?: readonly number[];
}

export interface ServerDiscovery {
  /** All servers seen so far; a server that is down stays, so that its collector reports the fault. */
  readonly servers: readonly ServerTarget[];
  /** Looks again; true when a server was added. Never rejects. */
  look(): Promise<boolean>;
}

/** Looks for inference servers on loopback: at the usual ports and at the ports of the server processes that run. */
export function createServerDiscovery(deps: DiscoveryDeps): ServerDiscovery {
  const found = new Map<number, ServerTarget>();
  const notBefore = new Map<number, number>();

  const probe = async (port: number, pids: readonly number[]): Promise<boolean> => {
    const url = `http://127.0.0.1:${port}`;
    let page: HttpResult;
    try {
      page = await deps.get(`${url}/metrics`, PROBE_TIMEOUT_MS);
    } catch {
      return false;
    }
    const engine = page.status === 200 ? recogniseEngine(page.body) : null;
    if (engine === null) {
      notBefore.set(port, deps.nowMs() + STRANGER_PAUSE_MS);
      return false;
    }
    const metrics_path = engine === "trtllm" && TRTLLM_JSON.test(page.body) ? await prometheusPath(url) : "/metrics";
    found.set(port, { name: `${engine}-${port}`, url, metrics_path, engine, pids });
    return true;
  };

  /** trtllm-serve prints Prometheus text at a path of its own, if told to. */
  const prometheusPath = async (url: string): Promise<string> => {
    const path = "/prometheus/metrics";
    try {
      const { status, body } = await deps.get(`${url}${path}`, PROBE_TIMEOUT_MS);
      return status === 200 && recogniseEngine(body) !== null ? path : "/metrics";
    } catch {
      return "/metrics";
    }
  };

  return {
    get servers() {
      return [...found.values()];
    },
    async look() {
      const processes = await deps.processes().catch(() => []);
      const candidates = new Set(deps.ports ?? USUAL_PORTS);
      for (const { port } of processes) if (port !== null) candidates.add(port);
      const due = [...candidates].filter((port) => !found.has(port) && (notBefore.get(port) ?? 0) <= deps.nowMs());
      const pidsOf = (port: number): number[] => processes.filter((p) => p.port === port).map((p) => p.pid);
      const added = await Promise.all(due.map((port) => probe(port, pidsOf(port))));
      return added.includes(true);
    },
  };
}
