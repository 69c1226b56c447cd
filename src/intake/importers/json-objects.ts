import { asObject, parseJsonExact } from "../exact-json.js";
import type { InputFile, InputLimits } from "../input-file.js";
import { readDocument } from "../input-lines.js";

type Json = Readonly<Record<string, unknown>>;

/**
 * The objects of a JSON file, whether it is one object, an array of them, or one a line (as tools write that append to their result).
 * A line that is none is counted through `onFault`, a cut last one as `truncated`.
 *
 * @throws AppError FILE_TOO_LARGE.
 */
export async function readJsonObjects(
  file: InputFile,
  limits: InputLimits,
  onFault: (reason: "syntax" | "truncated") => void,
): Promise<readonly Json[]> {
  const text = await readDocument(file, limits);
  const whole = parse(text);
  if (whole !== undefined) return objectsOf(whole, onFault);
  const lines = text.split("\n");
  const last = lines.findLastIndex((line) => line.trim() !== "");
  return lines.flatMap((line, i) => {
    if (line.trim() === "") return [];
    const value = parse(line);
    if (value !== undefined) return objectsOf(value, onFault);
    onFault(i === last && !text.endsWith("\n") ? "truncated" : "syntax");
    return [];
  });
}

function objectsOf(value: unknown, onFault: (reason: "syntax") => void): readonly Json[] {
  return (Array.isArray(value) ? (value as readonly unknown[]) : [value]).flatMap((item): readonly Json[] => {
    const object = asObject(item);
    if (object === null) onFault("syntax");
    return object === null ? [] : [object];
  });
}

function parse(text: string): unknown {
  try {
    return parseJsonExact(text);
  } catch {
    return undefined;
  }
}
