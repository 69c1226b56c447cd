import type { CollectorContext, Detection } from "../../schemas/collector.js";
import { classifySmiEnd, type SmiProblem } from "../../src/text/nvidia-smi-errors.js";
import { parseSmiList, type SmiListedGpu } from "../../src/text/nvidia-smi-list.js";

export interface SmiGpuList {
  readonly gpus: readonly SmiListedGpu[];
  readonly problems: readonly SmiProblem[];
}

/** `nvidia-smi -L`: rows are read before the exit status is looked at, because 14 and 15 come with good rows. */
export const listGpus = async (ctx: CollectorContext): Promise<SmiGpuList> => {
  const result = await ctx.run("nvidia-smi", ["-L"], { timeout_ms: ctx.timeout_ms });
  return { gpus: parseSmiList(result.stdout), problems: classifySmiEnd(result) };
};

/** One line for an error or a state: what is wrong and what mends it. */
export const problemText = (problem: SmiProblem): string =>
  problem.mend === undefined ? problem.text : `${problem.text} (${problem.mend})`;

/** The answer of every nvidia-smi collector that needs nothing but a GPU. */
export const detectGpus = async (ctx: CollectorContext): Promise<Detection & SmiGpuList> => {
  const list = await listGpus(ctx);
  const [first] = list.gpus;
  if (first === undefined) {
    const problem = list.problems[0];
    const mend = problem?.mend;
    return { ...list, found: false, text: problem?.text ?? "nvidia-smi lists no GPU", ...(mend === undefined ? {} : { mend }) };
  }
  const names = new Set(list.gpus.map((gpu) => gpu.name));
  const lost = list.problems.length > 0 ? `; ${list.problems.map((p) => p.text).join("; ")}` : "";
  return { ...list, found: true, text: `${list.gpus.length} x ${[...names].join(", ")}${lost}` };
};
