import type { DecisionTable, FactRow } from "../../schemas/decision-table.js";
import type { DiagnosisInput } from "../../schemas/index.js";

const REQUEST_FIELDS = {
  ttft: "ttft_ms",
  server_ttft: "server_ttft_ms",
  queue: "queue_ms",
  prefill: "prefill_ms",
  transfer: "transfer_ms",
  input_tokens: "input_tokens",
  output_tokens: "output_tokens",
  cached_tokens: "cached_tokens",
} as const;

/** What the inputs of a run carry at all: `KIND.COLUMN` of telemetry, `request.FIELD`, and `gpu.group` where several GPUs can be compared. */
export function carriedInputs(input: DiagnosisInput): ReadonlySet<string> {
  const carried = new Set<string>();
  const gpus = new Set<string>();
  for (const { entity, columns } of input.telemetry.tracks) {
    if (entity.kind === "gpu") gpus.add(`${entity.node}/${entity.key}`);
    for (const [column, values] of Object.entries(columns)) {
      const name = `${entity.kind}.${column}`;
      if (!carried.has(name) && values.some(Number.isFinite)) carried.add(name);
    }
  }
  if (gpus.size > 1) carried.add("gpu.group");
  const { requests } = input;
  if (requests.gap_ms.length > 0) carried.add("request.gaps");
  for (const [field, column] of Object.entries(REQUEST_FIELDS)) if (requests[column].some(Number.isFinite)) carried.add(`request.${field}`);
  return carried;
}

const isCarried = (row: FactRow, carried: ReadonlySet<string>): boolean => row.needs.some((all) => all.every((n) => carried.has(n)));

/** Facts that no input of the run could carry; a stand-in is not missed beside the real one, nor a comparison without anything to compare. */
export function missingFacts(table: DecisionTable, carried: ReadonlySet<string>): FactRow[] {
  const byName = new Map(table.facts.map((row) => [row.name, row]));
  return table.facts.filter((row) => {
    if (Object.keys(row.weights).length === 0 || isCarried(row, carried)) return false;
    if (row.only_with !== undefined && !carried.has(row.only_with)) return false;
    const real = row.unless === undefined ? undefined : byName.get(row.unless);
    return real === undefined || !isCarried(real, carried);
  });
}
