import { parsePidStat, parseSchedStat } from "../../src/text/proc-pid-stat.js";
import { listNames, readText } from "./read-text.js";

interface Thread {
  cpu_s: number;
  wait_s: number;
  /** Null until it was read once. */
  read_us: number | null;
  /** Cores in its latest interval. */
  cores: number;
}

export interface ThreadReading {
  /** Cores of the busiest thread since the previous update; null in the first. */
  readonly hottest_cores: number | null;
  readonly hottest_tid: number | null;
  /** Run-queue wait of all threads seen, ended ones included: grows only. Null without scheduler statistics. */
  readonly wait_s: number | null;
}

const LIST_AGAIN_US = 15_000_000;
const LIST_CHANGED_AGAIN_US = 2_000_000;
const READ_ALL_AGAIN_US = 5_000_000;
const HOT_CORES = 0.02;
/** CPU that the threads read do not account for: above this all threads are read, because another one has become busy. */
const UNEXPLAINED_CORES = 0.25;

/**
 * Follows the threads of one process without reading all of them every time (a worker has hundreds, nearly all asleep): the busiest
 * ones each time, the others in turn, and all at once when the process used CPU that the threads read do not explain.
 */
export class ThreadTracker {
  private readonly threads = new Map<number, Thread>();
  /** Thread ids in the order in which their turn comes. */
  private turn: number[] = [];
  private listedUs = Number.NEGATIVE_INFINITY;
  private readAllUs = Number.NEGATIVE_INFINITY;
  private updatedUs: number | null = null;
  private threadCount = -1;
  private processCpuS = 0;
  private waitS: number | null = null;

  /** `folder` = `/proc/PID`. */
  constructor(private readonly folder: string) {}

  /** `nowUs` from the monotonic clock; `hotReads` and `coldReads` bound how many threads are read. */
  update(nowUs: number, process: { cpu_s: number; threads: number }, hotReads: number, coldReads: number): ThreadReading {
    const sinceUs = this.updatedUs;
    const usedS = process.cpu_s - this.processCpuS;
    this.updatedUs = nowUs;
    this.processCpuS = process.cpu_s;

    const age = nowUs - this.listedUs;
    const added =
      age >= LIST_AGAIN_US || (process.threads !== this.threadCount && age >= LIST_CHANGED_AGAIN_US)
        ? this.list(nowUs, process.threads)
        : [];
    if (sinceUs === null || nowUs <= sinceUs) {
      for (const tid of [...this.threads.keys()]) this.read(tid, nowUs);
      return { hottest_cores: null, hottest_tid: null, wait_s: this.waitS };
    }

    const spanS = (nowUs - sinceUs) / 1e6;
    /** CPU by thread that was also read last time: exact. The rest was used at an unknown moment since its own last reading. */
    const exactS = new Map<number, number>();
    const sinceLongerS = new Map<number, number>();
    const readAll = (tids: Iterable<number>): void => {
      for (const tid of tids) {
        if (exactS.has(tid) || sinceLongerS.has(tid)) continue;
        const wasReadUs = this.threads.get(tid)?.read_us;
        const s = this.read(tid, nowUs);
        if (s !== null) (wasReadUs === sinceUs ? exactS : sinceLongerS).set(tid, s);
      }
    };
    const unexplainedS = (): number => usedS - [...exactS.values()].reduce((a, b) => a + b, 0);

    readAll(this.busiest(hotReads));
    readAll(this.nextInTurn(coldReads));
    readAll(added);
    if (unexplainedS() > UNEXPLAINED_CORES * spanS && nowUs - this.readAllUs >= READ_ALL_AGAIN_US) {
      this.readAllUs = nowUs;
      this.list(nowUs, process.threads);
      readAll([...this.threads.keys()]);
    }

    let hottest: number | null = null;
    const restS = Math.max(0, unexplainedS());
    for (const tid of [...exactS.keys(), ...sinceLongerS.keys()]) {
      const thread = this.threads.get(tid);
      if (thread === undefined) continue;
      thread.cores = (exactS.get(tid) ?? Math.min(sinceLongerS.get(tid) ?? 0, restS)) / spanS;
      if (hottest === null || thread.cores > (this.threads.get(hottest)?.cores ?? 0)) hottest = tid;
    }
    return {
      hottest_cores: hottest === null ? null : (this.threads.get(hottest)?.cores ?? null),
      hottest_tid: hottest,
      wait_s: this.waitS,
    };
  }

  private busiest(count: number): readonly number[] {
    return [...this.threads]
      .filter(([, t]) => t.cores >= HOT_CORES)
      .sort((a, b) => b[1].cores - a[1].cores || a[0] - b[0])
      .slice(0, count)
      .map(([tid]) => tid);
  }

  private nextInTurn(count: number): readonly number[] {
    const next = this.turn.splice(0, count);
    this.turn.push(...next);
    return next;
  }

  /** Brings the list up to date; returns the threads that are new. */
  private list(nowUs: number, threadCount: number): readonly number[] {
    this.listedUs = nowUs;
    this.threadCount = threadCount;
    const tids = new Set(
      listNames(`${this.folder}/task`)
        .filter((name) => /^\d+$/.test(name))
        .map(Number),
    );
    for (const tid of this.threads.keys()) if (!tids.has(tid)) this.threads.delete(tid);
    this.turn = this.turn.filter((tid) => tids.has(tid));
    const added = [...tids].filter((tid) => !this.threads.has(tid));
    for (const tid of added) {
      this.threads.set(tid, { cpu_s: 0, wait_s: 0, read_us: null, cores: 0 });
      this.turn.push(tid);
    }
    return added;
  }

  /** Seconds of CPU since the thread's last reading, or since its birth; null when it has ended. */
  private read(tid: number, nowUs: number): number | null {
    const thread = this.threads.get(tid);
    if (thread === undefined) return null;
    const sched = parseSchedStat(readText(`${this.folder}/task/${tid}/schedstat`) ?? "");
    const cpuS = sched?.run_s ?? parsePidStat(readText(`${this.folder}/task/${tid}/stat`) ?? "")?.cpu_s;
    if (cpuS === undefined) {
      this.threads.delete(tid);
      this.turn = this.turn.filter((t) => t !== tid);
      return null;
    }
    if (sched !== null) {
      this.waitS = (this.waitS ?? 0) + Math.max(0, sched.wait_s - thread.wait_s);
      thread.wait_s = sched.wait_s;
    }
    const usedS = Math.max(0, cpuS - thread.cpu_s);
    thread.cpu_s = cpuS;
    thread.read_us = nowUs;
    return usedS;
  }
}
