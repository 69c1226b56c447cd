import { asObject, parseJsonExact } from "../exact-json.js";
import type { InputFile, InputLimits } from "../input-file.js";
import { readLines } from "../input-lines.js";

export type LineFault = "truncated" | "syntax" | "line_too_long";

/** The objects of a JSON-lines file; lines that are none are counted through `onFault`, a cut last line as `truncated`. */
export async function* readJsonLines(
  file: InputFile,
  limits: InputLimits,
  onFault: (reason: LineFault) => void,
): AsyncGenerator<readonly Readonly<Record<string, unknown>>[]> {
  for await (const { lines, unterminated } of readLines(file, limits, () => onFault("line_too_long"))) {
    const objects: Readonly<Record<string, unknown>>[] = [];
    lines.forEach((line, i) => {
      if (line.trim() === "") return;
      const object = parseLine(line);
      if (object) objects.push(object);
      else onFault(unterminated && i === lines.length - 1 ? "truncated" : "syntax");
    });
    yield objects;
  }
}

function parseLine(line: string): Readonly<Record<string, unknown>> | null {
  try {
    return asObject(parseJsonExact(line));
  } catch {
    return null;
  }
}

/** The first object of the head of a JSON-lines file, or null: the head may be cut within a line. */
export function firstObject(head: string): Readonly<Record<string, unknown>> | null {
  for (const line of head.split("\n")) if (line.trim() !== "") return parseLine(line);
  return null;
}
