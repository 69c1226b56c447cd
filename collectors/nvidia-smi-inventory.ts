import { type CollectorContext, defineCollector, type Reading } from "../schemas/collector.js";
import { SMI_INVENTORY_COLUMNS } from "../schemas/maps/nvidia-smi-xml.js";
import type { Sample } from "../schemas/samples.js";
import { parseComputeApps } from "../src/text/nvidia-smi-compute-apps.js";
import { classifySmiEnd } from "../src/text/nvidia-smi-errors.js";
import { parseSmiList, type SmiListedGpu } from "../src/text/nvidia-smi-list.js";
import { parseSmiTopo, type SmiTopo } from "../src/text/nvidia-smi-topo.js";
import { refuse } from "../src/text/nvidia-smi-values.js";
import { parseSmiXml, type SmiXmlGpu, type SmiXmlLog } from "../src/text/nvidia-smi-xml.js";
import { detectGpus, problemText } from "./parts/nvidia-smi-detect.js";
import { gpuEntity } from "./parts/nvidia-smi-entity.js";
import { connectionsOf, summariseTopology } from "./parts/nvidia-smi-topology.js";

/** What does not change while the driver runs, read once and again when an unknown GPU appears. */
interface Layout {
  readonly listed: ReadonlyMap<string, SmiListedGpu>;
  readonly topo: SmiTopo;
}

/** Pids by owner: `UUID`, and `UUID/GPU_I_ID` with MIG. */
type Owners = ReadonlyMap<string, readonly number[]>;

const COMPUTES = /C/;

const readLog = async (ctx: CollectorContext): Promise<{ log: SmiXmlLog; notice: string | null }> => {
  const result = await ctx.run("nvidia-smi", ["-q", "-x"], { timeout_ms: ctx.timeout_ms * 0.4 });
  const log = parseSmiXml(result.stdout);
  const problems = classifySmiEnd(result);
  if (log === null || (log.gpus.length === 0 && problems.length > 0)) {
    throw new Error(problems[0] ? problemText(problems[0]) : "nvidia-smi -q -x gave no whole document");
  }
  return { log, notice: problems.length === 0 ? null : problems.map((p) => p.text).join("; ") };
};

/** The lesser calls: what they cannot say is left out, their failure is no failure of the inventory. */
const ask = async (ctx: CollectorContext, ...args: string[]): Promise<string> =>
  (await ctx.run("nvidia-smi", args, { timeout_ms: Math.min(5000, ctx.timeout_ms * 0.15) })).stdout;

const readLayout = async (ctx: CollectorContext): Promise<Layout> => {
  const listed = new Map(parseSmiList(await ask(ctx, "-L")).map((gpu) => [gpu.uuid, gpu]));
  return { listed, topo: parseSmiTopo(await ask(ctx, "topo", "-m")) };
};

const readOwners = async (ctx: CollectorContext, gpus: readonly SmiXmlGpu[]): Promise<Owners> => {
  const owners = new Map<string, Set<number>>();
  const add = (key: string, pid: number): void => void owners.set(key, (owners.get(key) ?? new Set()).add(pid));
  for (const gpu of gpus) {
    if (gpu.uuid === null) continue;
    owners.set(gpu.uuid, owners.get(gpu.uuid) ?? new Set());
    for (const instance of gpu.mig) owners.set(`${gpu.uuid}/${instance.gpuInstance}`, new Set());
    for (const process of gpu.processes) {
      if (process.type !== null && !COMPUTES.test(process.type)) continue;
      add(gpu.uuid, process.pid);
      if (process.gpuInstance !== null) add(`${gpu.uuid}/${process.gpuInstance}`, process.pid);
    }
  }
  if (![...owners.values()].some((pids) => pids.size > 0)) {
    const text = await ask(ctx, "--query-compute-apps=gpu_uuid,pid,process_name,used_gpu_memory", "--format=csv");
    for (const app of parseComputeApps(text).apps) if (owners.has(app.uuid)) add(app.uuid, app.pid);
  }
  return new Map([...owners].map(([key, pids]) => [key, [...pids].sort((a, b) => a - b)]));
};

/** An empty list is said too: a label that stops coming would leave the pids of a process that has ended. */
const pidLabel = (owners: Owners, key: string): string => (owners.get(key) ?? []).join(",");

const migSamples = (
  ctx: CollectorContext,
  gpu: SmiXmlGpu & { uuid: string },
  listed: SmiListedGpu | undefined,
  owners: Owners,
): Sample[] => {
  // Compute instances of one GPU instance share its memory: one entity.
  const instances = new Map(gpu.mig.map((mig) => [mig.gpuInstance, mig]));
  return [...instances.values()].map((mig) => {
    const device = listed?.mig.find((d) => d.device === mig.index);
    const key = `${gpu.uuid}/${mig.gpuInstance}`;
    const labels = {
      index: listed === undefined ? null : String(listed.index),
      model: gpu.model,
      pci_bus_id: gpu.busId,
      mig_profile: device?.profile ?? null,
      mig_uuid: device?.uuid ?? null,
      pids: pidLabel(owners, key),
    };
    return { entity: gpuEntity(ctx.node, key, labels), ts_us: ctx.clock.wallUs(), epoch: ctx.clock.epoch(), values: mig.values };
  });
};

const gpuSamples = (ctx: CollectorContext, gpu: SmiXmlGpu & { uuid: string }, layout: Layout, owners: Owners): Sample[] => {
  const listed = layout.listed.get(gpu.uuid);
  const values = Object.fromEntries(Object.entries(gpu.values).filter(([column]) => SMI_INVENTORY_COLUMNS.has(column)));
  const row = listed === undefined ? undefined : layout.topo.rows.find((r) => r.name === `GPU${listed.index}`);
  const labels = {
    index: listed === undefined ? null : String(listed.index),
    model: gpu.model,
    pci_bus_id: gpu.busId,
    pids: pidLabel(owners, gpu.uuid),
    numa_node: row?.numaAffinity ?? null,
    cpu_affinity: row?.cpuAffinity ?? null,
    topology: row === undefined ? null : connectionsOf(row, layout.topo.nics),
  };
  const sample = { entity: gpuEntity(ctx.node, gpu.uuid, labels), ts_us: ctx.clock.wallUs(), epoch: ctx.clock.epoch(), values };
  return [sample, ...migSamples(ctx, gpu, listed, owners)].filter((s) => Object.keys(s.values).length > 0);
};

const manifestOf = (log: SmiXmlLog, topo: SmiTopo): Record<string, string> => {
  const models = [...new Set(log.gpus.flatMap((gpu) => gpu.model ?? []))];
  const topology = summariseTopology(topo);
  return {
    gpu_count: String(log.gpus.length),
    ...(models.length > 0 ? { gpu_model: models.join(", ") } : {}),
    ...(log.driver === null ? {} : { driver_version: log.driver }),
    ...(log.cuda === null ? {} : { cuda_version: log.cuda }),
    ...(topology === null ? {} : { gpu_topology: topology }),
  };
};

/** What changes slowly: limits, PCIe maxima, ECC and row remaps, MIG instances, processes, topology, versions. One slow call a minute. */
export const nvidiaSmiInventory = defineCollector({
  name: "nvidia-smi-inventory",
  kinds: ["gpu"],
  mode: "poll",
  default_interval_ms: 60_000,
  default_timeout_ms: 30_000,
  window_ms: null,
  lag_ms: 0,
  async detect(ctx) {
    const { found, text, mend } = await detectGpus(ctx);
    return { found, text, ...(mend === undefined ? {} : { mend }) };
  },
  start() {
    let layout: Layout | null = null;
    return {
      async poll(ctx): Promise<Reading> {
        const { log, notice } = await readLog(ctx);
        const named = log.gpus.filter((gpu): gpu is SmiXmlGpu & { uuid: string } => gpu.uuid !== null);
        const known = layout;
        const whole = known !== null && named.every((gpu) => known.listed.has(gpu.uuid));
        const current = whole ? known : await readLayout(ctx);
        layout = current;
        const owners = await readOwners(ctx, log.gpus);
        const rejected: Record<string, number> = {};
        if (named.length < log.gpus.length) refuse(rejected, "no_gpu", log.gpus.length - named.length);
        return {
          samples: named.flatMap((gpu) => gpuSamples(ctx, gpu, current, owners)),
          manifest: manifestOf(log, current.topo),
          rejected,
          notice,
        };
      },
    };
  },
});
