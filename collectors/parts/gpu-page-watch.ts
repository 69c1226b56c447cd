import type { Sample } from "../../schemas/samples.js";
import type { Mark } from "../../schemas/telemetry.js";

const PROFILING = ["gr_engine_active_ratio", "sm_active_ratio", "tensor_active_ratio", "dram_active_ratio"] as const;
/** Columns that hardly ever repeat to the last digit on a living GPU. */
const RESTLESS = ["power_w", "energy_j_total", ...PROFILING] as const;
/** A page may miss a GPU once; a device that fell off the bus stays away. */
const LOST_AFTER_PAGES = 3;
const SLOW_REFRESH_US = 5e6;

interface Seen {
  missed: number;
  pages: number;
  /** Null until a page showed one: newer exporters print no XID before the first. */
  xid: number | null;
  signature: string;
  changed_us: number;
  /** Pages since then that showed the same again. */
  repeats: number;
}

export interface PageFindings {
  readonly marks: readonly Mark[];
  readonly notices: readonly string[];
}

/** Follows the GPUs from page to page: new XIDs, devices that vanish, values that only repeat, profiling that is off. */
export class GpuPageWatch {
  readonly #gpus = new Map<string, Seen>();
  #profiled = false;
  #refreshUs: number | null = null;

  /** `whole`: the page was not cut, so what is absent is absent. */
  look(samples: readonly Sample[], tsUs: number, node: string, whole: boolean): PageFindings {
    const marks: Mark[] = [];
    const notices: string[] = [];
    const here = new Set<string>();
    const newXids = new Map<string, number>();
    for (const { entity, values } of samples) {
      here.add(entity.key);
      const seen = this.#gpus.get(entity.key) ?? { missed: 0, pages: 0, xid: null, signature: "", changed_us: tsUs, repeats: 0 };
      this.#gpus.set(entity.key, seen);
      const xid = values.xid ?? null;
      // What is there at first sight is old; XIDs of a MIG parent are repeated on each of its instances.
      if (xid !== null && xid !== 0 && seen.pages > 0 && xid !== seen.xid) newXids.set(entity.key.split("/")[0]!, xid);
      if (xid !== null) seen.xid = xid;
      this.#watchRefresh(seen, values, tsUs);
      seen.missed = 0;
      seen.pages++;
    }
    for (const [gpu, xid] of newXids) marks.push({ ts_us: tsUs, node, kind: "xid", text: `XID ${xid} on ${gpu}` });
    if (whole)
      for (const gpu of this.#lost(here)) marks.push({ ts_us: tsUs, node, kind: "device_lost", text: `${gpu} is no longer reported` });
    const gone = [...this.#gpus].filter(([, s]) => s.missed >= LOST_AFTER_PAGES).map(([key]) => key);
    if (gone.length > 0) notices.push(`device_lost: ${gone.sort().join(", ")}`);
    if (samples.length > 0) notices.push(...this.#profiling(samples));
    if (this.#refreshUs !== null && this.#refreshUs >= SLOW_REFRESH_US) {
      notices.push(`values change only every ${Math.round(this.#refreshUs / 1e6)} s: run dcgm-exporter with --collect-interval 1000`);
    }
    return { marks, notices };
  }

  #watchRefresh(seen: Seen, values: Readonly<Record<string, number>>, tsUs: number): void {
    const signature = RESTLESS.map((name) => values[name] ?? "").join();
    const stood = tsUs - seen.changed_us;
    if (signature === seen.signature && seen.missed === 0) {
      seen.repeats++;
      // An idle virtual GPU has nothing restless to show; a board always draws power.
      if ((values.power_w ?? 0) > 0 && stood >= 2 * SLOW_REFRESH_US) this.#refreshUs = Math.max(stood, this.#refreshUs ?? 0);
      return;
    }
    if (seen.missed === 0 && seen.signature !== "") this.#refreshUs = seen.repeats > 0 ? stood : null;
    seen.signature = signature;
    seen.changed_us = tsUs;
    seen.repeats = 0;
  }

  /** Those that were missed often enough by now; each is named once. */
  #lost(here: ReadonlySet<string>): string[] {
    const lost: string[] = [];
    for (const [key, seen] of this.#gpus) {
      if (here.has(key)) continue;
      seen.missed++;
      if (seen.missed === LOST_AFTER_PAGES && seen.pages >= LOST_AFTER_PAGES) lost.push(key);
    }
    return lost;
  }

  #profiling(samples: readonly Sample[]): string[] {
    const there = samples.some(({ values }) => PROFILING.some((name) => values[name] !== undefined));
    if (there) {
      this.#profiled = true;
      return [];
    }
    return [
      this.#profiled
        ? "profiling fields vanished: another profiler holds the counters (dcgmi profile --resume frees them)"
        : "profiling fields absent: enable DCGM_FI_PROF_* in the exporter's field list and give it SYS_ADMIN",
    ];
  }
}
