import type { HostReading } from "../../src/sim/host-reading.js";

/** One process of the server, as /proc shows it. */
export interface LabProcess {
  readonly pid: number;
  readonly ppid: number;
  /** Arguments or title, NUL-separated when written. */
  readonly cmdline: readonly string[];
  readonly rss_kib: number;
  /** CPU seconds and seconds of waiting for a CPU. */
  readonly cpu: (host: HostReading) => { readonly cpu_s: number; readonly wait_s: number };
  /** Threads besides the main one that sleep. */
  readonly sleepers: number;
}

const API_PID = 4001;
const ENGINE_PID = 4101;
const WORKER_PID = 4201;

/** The processes that hold GPUs, in order of rank. With one GPU the engine core works itself. */
export const workerPids = (tp: number): readonly number[] =>
  tp === 1 ? [ENGINE_PID] : Array.from({ length: tp }, (_, rank) => WORKER_PID + rank);

/** vLLM V1: the API server, its engine core, and workers when there are several ranks. */
export function serverProcesses(model: string, port: number, tp: number): LabProcess[] {
  const serve = ["/usr/bin/python3", "/usr/local/bin/vllm", "serve", model, "--port", String(port), "--tensor-parallel-size", String(tp)];
  const api: LabProcess = { pid: API_PID, ppid: 1, cmdline: serve, rss_kib: 1_060_000, cpu: (h) => h.api, sleepers: 6 };
  const engine: LabProcess = {
    pid: ENGINE_PID,
    ppid: API_PID,
    cmdline: ["VLLM::EngineCore"],
    rss_kib: 3_400_000,
    cpu: (h) => h.engine,
    sleepers: 4,
  };
  if (tp === 1) return [api, engine];
  const workers = workerPids(tp).map(
    (pid, rank): LabProcess => ({
      pid,
      ppid: ENGINE_PID,
      cmdline: [`VLLM::Worker_TP${rank}`],
      rss_kib: 5_200_000,
      cpu: (h) => h.worker,
      sleepers: 8,
    }),
  );
  return [api, engine, ...workers];
}
