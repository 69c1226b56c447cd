import fs from "node:fs";
import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument } from "yaml";
import { AppError } from "../../schemas/error-codes.js";
import { keysAt, nearest } from "./schema-keys.js";

/** The part of a zod schema that is used here. */
export interface ConfigSchema<T> {
  safeParse(value: unknown): { success: true; data: T } | { success: false; error: { issues: readonly SchemaIssue[] } };
}

export interface SchemaIssue {
  readonly code: string;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly keys?: readonly string[];
}

const MAX_BYTES = 1024 * 1024;

/**
 * Reads a YAML file against a schema. Every fault names file, line and column (`agent.yml:3:5: …`).
 * @throws AppError CONFIG_INVALID
 */
export function readConfigFile<T>(file: string, schema: ConfigSchema<T>): T {
  let bytes: Buffer;
  try {
    bytes = fs.readFileSync(file);
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code === "ENOENT" ? "there is no such file" : (error as Error).message;
    throw new AppError("CONFIG_INVALID", `${file}: the configuration cannot be read: ${why}`, { cause: error });
  }
  if (bytes.length > MAX_BYTES) throw new AppError("CONFIG_INVALID", `${file}: ${bytes.length} bytes are no configuration`);
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw new AppError("CONFIG_INVALID", `${file}: the configuration is not UTF-8 text`, { cause: error });
  }
  return parseConfig(text, file, schema);
}

/** The same for a text; `name` stands for the file in messages. @throws AppError CONFIG_INVALID */
export function parseConfig<T>(text: string, name: string, schema: ConfigSchema<T>): T {
  const lines = new LineCounter();
  const doc = parseDocument(text, { strict: true, uniqueKeys: true, lineCounter: lines, prettyErrors: false });
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${name}:${line}:${col}`;
  };
  const broken = doc.errors[0];
  if (broken) throw fault([`${at(broken.pos[0])}: ${broken.message.split("\n")[0]}`]);
  let value: unknown;
  try {
    value = doc.toJS({ maxAliasCount: 50 }) ?? {};
  } catch (error) {
    throw fault([`${name}: ${(error as Error).message}`]);
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw fault(result.error.issues.flatMap((issue) => describe(issue, doc, at, schema)));
}

const fault = (lines: readonly string[]): AppError =>
  new AppError("CONFIG_INVALID", lines.length > 1 ? `${lines[0]} (and ${lines.length - 1} more)` : lines[0]!);

function describe(issue: SchemaIssue, doc: Document, at: (offset: number) => string, schema: unknown): string[] {
  if (issue.code === "unrecognized_keys" && issue.keys) {
    return issue.keys.map((key) => {
      const valid = keysAt(schema, issue.path);
      const near = nearest(key, valid);
      const hint = near ? `did you mean "${near}"?` : `known here: ${valid.join(", ")}`;
      const where = issue.path.length > 0 ? ` in ${issue.path.join(".")}` : "";
      return `${at(keyOffset(doc, issue.path, key))}: unknown key "${key}"${where}; ${hint}`;
    });
  }
  const where = issue.path.length > 0 ? `${issue.path.join(".")}: ` : "";
  return [`${at(valueOffset(doc, issue.path))}: ${where}${issue.message}`];
}

function keyOffset(doc: Document, path: readonly PropertyKey[], key: string): number {
  const map = doc.getIn(path, true);
  const pair = isMap(map) ? map.items.find((item) => isScalar(item.key) && String(item.key.value) === key) : undefined;
  return pair && isNode(pair.key) ? (pair.key.range?.[0] ?? 0) : valueOffset(doc, path);
}

/** Where the value at `path` stands; for a missing one, where the nearest thing around it stands. */
function valueOffset(doc: Document, path: readonly PropertyKey[]): number {
  for (let length = path.length; length >= 0; length--) {
    const node = length === 0 ? doc.contents : doc.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}
