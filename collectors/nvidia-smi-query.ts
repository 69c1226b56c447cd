import { type CollectorContext, defineCollector, type Reading } from "../schemas/collector.js";
import { SMI_QUERY } from "../schemas/maps/nvidia-smi.js";
import type { Sample } from "../schemas/samples.js";
import type { Mark } from "../schemas/telemetry.js";
import { createSmiCsvReader, type SmiCsvEvent } from "../src/text/nvidia-smi-csv.js";
import { chooseSmiFields, parseSmiFieldList } from "../src/text/nvidia-smi-fields.js";
import { readGpuRow, type SmiGpuRow } from "../src/text/nvidia-smi-gpu-row.js";
import { addRefused } from "../src/text/nvidia-smi-values.js";
import { detectGpus, problemText } from "./parts/nvidia-smi-detect.js";
import { gpuEntity } from "./parts/nvidia-smi-entity.js";
import { type DatedRow, followSmi, type SmiLoop } from "./parts/nvidia-smi-follow.js";

/** NVML refreshes its values about every 100 ms: asking more often repeats them. */
const FASTEST_MS = 100;
/** A loop does not notice that a GPU came back: after this many broken cycles of a GPU that was well, it is started afresh. */
const BROKEN_BEFORE_RESTART = 3;

const FAULT_TEXT: Readonly<Record<string, string>> = {
  unknown_error: "unknown error",
  requires_reset: "requires reset",
  gpu_lost: "is lost",
};

const keyOf = (row: SmiGpuRow): string | null => row.uuid ?? (row.fault === null ? null : (row.busId ?? row.index));

/** Follows which GPUs are broken, over the life of one loop. */
const createFaultWatch = (node: string) => {
  const state = new Map<string, { wasWell: boolean; broken: number }>();
  return (rows: readonly DatedRow<SmiGpuRow>[]): { marks: Mark[]; notice: string | null; stop: string | undefined } => {
    const marks: Mark[] = [];
    const broken: string[] = [];
    let stop: string | undefined;
    for (const { row, ts_us } of rows) {
      const key = keyOf(row)!;
      const before = state.get(key) ?? { wasWell: false, broken: 0 };
      state.set(key, row.fault === null ? { wasWell: true, broken: 0 } : { ...before, broken: before.broken + 1 });
      if (row.fault === null) continue;
      const text = `GPU ${key}: ${FAULT_TEXT[row.fault] ?? row.fault}`;
      broken.push(text);
      if (before.broken === 0) marks.push({ ts_us, node, kind: "gpu_fault", text });
      if (before.wasWell && before.broken + 1 >= BROKEN_BEFORE_RESTART) stop = text;
    }
    return { marks, notice: broken.length === 0 ? null : broken.join("; "), stop };
  };
};

const toSample = (ctx: CollectorContext, { row, ts_us, epoch }: DatedRow<SmiGpuRow>): Sample[] =>
  row.uuid === null || Object.keys(row.values).length === 0
    ? []
    : [
        {
          entity: gpuEntity(ctx.node, row.uuid, { index: row.index, model: row.model, pci_bus_id: row.busId }),
          ts_us,
          epoch,
          values: row.values,
        },
      ];

const createReader = (): { push(line: string): Exclude<SmiCsvEvent, { kind: "row" }> | { kind: "row"; row: SmiGpuRow } } => {
  const reader = createSmiCsvReader();
  return {
    push(line) {
      const event = reader.push(line);
      return event.kind === "row" ? { kind: "row", row: readGpuRow(event.row) } : event;
    },
  };
};

const loopOf = (ctx: CollectorContext, fields: readonly string[]): SmiLoop<SmiGpuRow> => {
  const interval_ms = Math.max(FASTEST_MS, Math.round(ctx.interval_ms));
  const watch = createFaultWatch(ctx.node);
  return {
    args: [`--query-gpu=${fields.join(",")}`, "--format=csv,nounits", "-lms", String(interval_ms)],
    interval_ms,
    resolution_us: 1000,
    createReader,
    key: keyOf,
    stamp_us: (row) => row.stamp_us,
    cycle(rows) {
      const { marks, notice, stop } = watch(rows);
      const rejected: Record<string, number> = {};
      for (const { row } of rows) addRefused(rejected, row.refused);
      const reading: Reading = { samples: rows.flatMap((row) => toSample(ctx, row)), marks, rejected, notice };
      return stop === undefined ? { reading } : { reading, stop };
    },
  };
};

/** The driver's own list of fields; empty when it cannot be had, and then the answers to the query itself tell. */
const knownFields = async (ctx: CollectorContext): Promise<ReadonlySet<string>> => {
  const help = await ctx.run("nvidia-smi", ["--help-query-gpu"], { timeout_ms: ctx.timeout_ms });
  return parseSmiFieldList(help.stdout);
};

/** Levels of every GPU from one long-lived `nvidia-smi --query-gpu ... -lms`. */
export const nvidiaSmiQuery = defineCollector({
  name: "nvidia-smi-query",
  kinds: ["gpu"],
  mode: "stream",
  default_interval_ms: 1000,
  default_timeout_ms: 5000,
  window_ms: null,
  lag_ms: 0,
  silent_after_intervals: 10,
  async detect(ctx) {
    const { found, text, mend } = await detectGpus(ctx);
    return { found, text, ...(mend === undefined ? {} : { mend }) };
  },
  async stream(ctx, emit) {
    const known = await knownFields(ctx);
    const refused = new Set<string>();
    while (!ctx.signal.aborted) {
      const fields = chooseSmiFields(SMI_QUERY, known, refused);
      const end = await followSmi(ctx, loopOf(ctx, fields), emit);
      if (end.kind === "stopped") throw new Error(`${end.why}: starting nvidia-smi afresh, so that it looks at its GPUs anew`);
      if (end.kind !== "problem") return;
      const field = end.problem.field;
      if (field === undefined || !fields.includes(field)) throw new Error(problemText(end.problem));
      ctx.log.info({ field }, "nvidia-smi does not know this field: asking without it");
      refused.add(field);
    }
  },
});
