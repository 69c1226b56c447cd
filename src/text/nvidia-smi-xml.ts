import { XMLParser } from "fast-xml-parser";
import { SMI_XML_ECC_GROUPS, SMI_XML_FIELDS, SMI_XML_MEMORY, type SmiXmlField } from "../../schemas/maps/nvidia-smi-xml.js";
import { parseSmiCell, smiText } from "./nvidia-smi-cell.js";
import { createSmiValues, putText, putValue, type SmiValues } from "./nvidia-smi-values.js";

export interface SmiXmlProcess {
  readonly pid: number;
  /** `C`, `G`, `C+G`, `M+C`; null when not printed. */
  readonly type: string | null;
  readonly name: string | null;
  /** MIG GPU instance; null without MIG. */
  readonly gpuInstance: string | null;
}

export interface SmiXmlMig {
  readonly index: number;
  readonly gpuInstance: string;
  readonly values: Readonly<Record<string, number>>;
}

export interface SmiXmlGpu {
  readonly uuid: string | null;
  readonly busId: string | null;
  readonly model: string | null;
  readonly values: Readonly<Record<string, number>>;
  readonly refused: Readonly<Record<string, number>>;
  /** Null when the driver does not say. */
  readonly migEnabled: boolean | null;
  readonly mig: readonly SmiXmlMig[];
  readonly processes: readonly SmiXmlProcess[];
}

export interface SmiXmlLog {
  readonly driver: string | null;
  readonly cuda: string | null;
  readonly gpus: readonly SmiXmlGpu[];
}

type Node = Readonly<Record<string, unknown>>;

const LISTS = new Set(["gpu", "mig_device", "process_info"]);

/** Values stay text (`0x10` and `1e3` are no numbers here), entities of the document are bounded, no DTD is fetched. */
const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: "@",
  parseTagValue: false,
  parseAttributeValue: false,
  isArray: (name) => LISTS.has(name),
});

/** An element can be text (`N/A`) where a tree is usual, and the other way round. */
const asNode = (value: unknown): Node => (typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Node) : {});
const asList = (value: unknown): readonly Node[] => (Array.isArray(value) ? value.map(asNode) : []);

const leaf = (node: Node, path: string): string | undefined => {
  let at: unknown = node;
  for (const step of path.split("/")) at = asNode(at)[step];
  return typeof at === "string" ? at : undefined;
};

const firstText = (node: Node, ...paths: readonly string[]): string | null => {
  for (const path of paths) {
    const text = smiText(leaf(node, path));
    if (text !== null) return text;
  }
  return null;
};

/** Tries a column's paths in turn; what is absent from the document is not counted, what was printed and unusable is, once. */
const putField = (into: SmiValues, node: Node, field: SmiXmlField): void => {
  const printed = field.paths.flatMap((path) => leaf(node, path) ?? []);
  const best = printed.find((text) => parseSmiCell(text).kind === "number") ?? printed[0];
  if (best !== undefined) putText(into, field, best);
};

const putEcc = (into: SmiValues, node: Node): void => {
  for (const group of SMI_XML_ECC_GROUPS) {
    const cells = group.map((path) => parseSmiCell(leaf(node, path) ?? ""));
    if (!cells.every((cell) => cell.kind === "number")) continue;
    putValue(
      into,
      "ecc_uncorrected_total",
      cells.reduce((sum, cell) => sum + (cell.kind === "number" ? cell.value : 0), 0),
    );
    return;
  }
};

const readMig = (node: Node): SmiXmlMig | null => {
  const gpuInstance = firstText(node, "gpu_instance_id");
  const index = parseSmiCell(leaf(node, "index") ?? "");
  if (gpuInstance === null || index.kind !== "number") return null;
  const read = createSmiValues();
  for (const field of SMI_XML_MEMORY) putField(read, node, field);
  return { index: index.value, gpuInstance, values: read.values };
};

const readProcess = (node: Node): SmiXmlProcess | null => {
  const pid = parseSmiCell(leaf(node, "pid") ?? "");
  if (pid.kind !== "number") return null;
  return {
    pid: pid.value,
    type: firstText(node, "type"),
    name: firstText(node, "process_name"),
    gpuInstance: firstText(node, "gpu_instance_id"),
  };
};

const readGpu = (node: Node): SmiXmlGpu => {
  const read = createSmiValues();
  for (const field of SMI_XML_FIELDS) putField(read, node, field);
  putEcc(read, node);
  const failed = leaf(node, "remapped_rows/remapped_row_failure");
  if (failed === "Yes" || failed === "No") putValue(read, "row_remap_failed", failed === "Yes" ? 1 : 0);
  const state = /^P(\d{1,2})$/.exec(leaf(node, "performance_state") ?? "");
  if (state) putValue(read, "pstate", Number(state[1]));
  const mode = firstText(node, "mig_mode/current_mig");
  return {
    uuid: firstText(node, "uuid"),
    busId: smiText(typeof node["@id"] === "string" ? node["@id"] : undefined) ?? firstText(node, "pci/pci_bus_id"),
    model: firstText(node, "product_name"),
    ...read,
    migEnabled: mode === null ? null : mode === "Enabled",
    mig: asList(asNode(node["mig_devices"])["mig_device"]).flatMap((m) => readMig(m) ?? []),
    processes: asList(asNode(node["processes"])["process_info"]).flatMap((p) => readProcess(p) ?? []),
  };
};

const lastDocument = (text: string): string | null => {
  const end = text.lastIndexOf("</nvidia_smi_log>");
  if (end < 0) return null;
  const start = text.lastIndexOf("<nvidia_smi_log", end);
  return start < 0 ? null : text.slice(start, end + "</nvidia_smi_log>".length);
};

/**
 * Reads the last whole document of `nvidia-smi -q -x` output, with or without DOCTYPE, messages around it passed over. Null when there
 * is none (an error text, or a document that was cut off) or when it cannot be parsed.
 */
export const parseSmiXml = (text: string): SmiXmlLog | null => {
  const document = lastDocument(text);
  if (document === null) return null;
  let log: Node;
  try {
    log = asNode(asNode(parser.parse(document))["nvidia_smi_log"]);
  } catch {
    return null;
  }
  return {
    driver: firstText(log, "driver_version", "kmd_version"),
    cuda: firstText(log, "cuda_version", "cuda_umd_version"),
    gpus: asList(log["gpu"]).map(readGpu),
  };
};
