import type { LiveNode } from "../live-node.js";
import { type DmonOptions, dmonHeader, dmonRows, isKnownGroup } from "./dmon.js";
import { computeApps, gpuList, topology } from "./listings.js";
import { nvlinkCounters, nvlinkStatus } from "./nvlink.js";
import { type SmiGpu, smiGpus } from "./query-fields.js";
import { csvFormat, csvHeader, csvRows, fieldList, queriedFields } from "./query-gpu.js";
import { queryXml } from "./xml.js";

/** What a call prints: once, or again and again. */
export interface SmiRun {
  readonly exit: number;
  readonly first: string;
  /** Printed at once and then every `every_ms`; null = the call ends after `first`. */
  readonly loop: { readonly every_ms: number; readonly times: number; readonly next: (cycle: number) => string } | null;
}

const once = (first: string, exit = 0): SmiRun => ({ exit, first, loop: null });
const WINDOW_US = 1e6;
const NOT_RECOGNISED = 'Invalid combination of input arguments. Please run "nvidia-smi -h" for help.\n\n';

/** Value of an option written `-x V`, `--x V` or `--x=V`; undefined when it is absent. */
function option(args: readonly string[], ...names: readonly string[]): string | undefined {
  for (const [i, arg] of args.entries()) {
    if (names.includes(arg)) return args[i + 1] ?? "";
    for (const name of names) if (arg.startsWith(`${name}=`)) return arg.slice(name.length + 1);
  }
  return undefined;
}

function chosen(gpus: readonly SmiGpu[], ids: string | undefined): SmiGpu[] {
  const list = ids?.split(",");
  return gpus.filter((g) => !list || list.includes(String(g.index)) || list.includes(g.uuid) || list.includes(g.bus_id));
}

function loopMs(args: readonly string[]): number | null {
  const ms = option(args, "-lms", "--loop-ms");
  const seconds = option(args, "-l", "--loop");
  return ms !== undefined ? Number(ms) : seconds !== undefined ? Number(seconds) * 1000 : null;
}

function queryGpu(live: LiveNode, args: readonly string[], list: string): SmiRun {
  const fields = queriedFields(list);
  if (typeof fields === "string") return once(fields, 2);
  const format = csvFormat(option(args, "--format") ?? "");
  if (!format) return once('"--format=" switch is missing. Please run "nvidia-smi -h" for help.\n\n', 2);
  const ids = option(args, "-i", "--id");
  const every_ms = loopMs(args);
  const rows = (): string => csvRows(fields, chosen(smiGpus(live, (every_ms ?? 1000) * 1000), ids), format);
  const header = format.header ? csvHeader(fields) : "";
  return every_ms === null ? once(header + rows()) : { exit: 0, first: header, loop: { every_ms, times: Infinity, next: rows } };
}

function dmon(live: LiveNode, args: readonly string[]): SmiRun {
  const options: DmonOptions = {
    groups: option(args, "-s", "--select") ?? "puc",
    gpm: (option(args, "--gpm-metrics") ?? "").split(",").filter((id) => id !== ""),
    stamp: option(args, "-o", "--options") ?? "",
    gpmSupported: /H100|H200/.test(smiGpus(live, WINDOW_US)[0]!.spec.name),
  };
  if (!isKnownGroup(options.groups)) return once(NOT_RECOGNISED, 2);
  const every_ms = Number(option(args, "-d", "--delay") ?? "1") * 1000;
  const times = Number(option(args, "-c", "--count") ?? "Infinity");
  const ids = option(args, "-i", "--id");
  const next = (cycle: number): string => dmonRows(options, chosen(smiGpus(live, every_ms * 1000), ids), cycle);
  return { exit: 0, first: dmonHeader(options), loop: { every_ms, times, next } };
}

function nvlink(live: LiveNode, args: readonly string[]): SmiRun {
  const gpus = chosen(smiGpus(live, WINDOW_US), option(args, "-i", "--id"));
  const counters = option(args, "-gt", "--getthroughput");
  if (counters === "d" || counters === "r") return once(nvlinkCounters(gpus, counters === "r"));
  return args.includes("-s") || args.includes("--status") ? once(nvlinkStatus(gpus)) : once(NOT_RECOGNISED, 2);
}

/** What nvidia-smi answers to these arguments. */
export function smiRun(live: LiveNode, args: readonly string[]): SmiRun {
  if (args[0] === "dmon") return dmon(live, args);
  if (args[0] === "nvlink") return nvlink(live, args);
  if (args[0] === "topo" && args.includes("-m")) return once(topology(smiGpus(live, WINDOW_US)));
  if (args.includes("--help-query-gpu")) return once(fieldList());
  const query = option(args, "--query-gpu");
  if (query !== undefined) return queryGpu(live, args, query);
  const apps = option(args, "--query-compute-apps");
  const gpus = smiGpus(live, WINDOW_US);
  if (apps !== undefined) {
    const format = csvFormat(option(args, "--format") ?? "");
    const text = format && computeApps(live, gpus, apps.split(","), format);
    return text ? once(text) : once(NOT_RECOGNISED, 2);
  }
  if (args.includes("-L") || args.includes("--list-gpus")) return once(gpuList(gpus));
  if ((args.includes("-q") && args.includes("-x")) || args.includes("-qx") || (args.includes("--query") && args.includes("--xml-format")))
    return once(queryXml(chosen(gpus, option(args, "-i", "--id")), Date.now()));
  if (args.includes("--version"))
    return once(
      "NVIDIA-SMI version  : 580.105.08\nNVML version        : 580.105\nDRIVER version      : 580.105.08\nCUDA Version        : 13.0\n",
    );
  return once(NOT_RECOGNISED, 2);
}
