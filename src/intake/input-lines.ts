import { StringDecoder } from "node:string_decoder";
import { AppError } from "../../schemas/error-codes.js";
import type { InputFile, InputLimits } from "./input-file.js";

/** Some lines of a file, in order, without their line ends. */
export interface LineBatch {
  readonly lines: readonly string[];
  /** The last line of this batch is the file's last and has no line end: it may be cut. */
  readonly unterminated: boolean;
}

/**
 * Reads lines in batches of one chunk each; memory is bounded by the longest line.
 *
 * @param onTooLong told of every line beyond the limit, which is skipped.
 */
export async function* readLines(file: InputFile, limits: InputLimits, onTooLong: () => void): AsyncGenerator<LineBatch> {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  let skipping = false;
  let first = true;
  for await (const chunk of file.chunks()) {
    let text = decoder.write(chunk);
    if (first && text.length > 0) {
      if (text.charCodeAt(0) === 0xfeff) text = text.slice(1);
      first = false;
    }
    const end = text.lastIndexOf("\n");
    if (end < 0) {
      if (!skipping) rest += text;
      if (rest.length > limits.max_line_bytes) {
        rest = "";
        skipping = true;
        onTooLong();
      }
      continue;
    }
    const lines = (rest + text.slice(0, end)).split("\n");
    if (skipping) {
      lines.shift();
      skipping = false;
    }
    rest = text.slice(end + 1);
    const kept = lines.filter((line) => line.length <= limits.max_line_bytes);
    for (let dropped = lines.length - kept.length; dropped > 0; dropped--) onTooLong();
    if (kept.length > 0) yield { lines: kept.map(dropCarriageReturn), unterminated: false };
  }
  rest += decoder.end();
  if (rest !== "" && !skipping) yield { lines: [dropCarriageReturn(rest)], unterminated: true };
}

const dropCarriageReturn = (line: string): string => (line.endsWith("\r") ? line.slice(0, -1) : line);

/** A file as text in pieces that may end anywhere but within a character. */
export async function* readText(file: InputFile): AsyncGenerator<string> {
  const decoder = new StringDecoder("utf8");
  for await (const chunk of file.chunks()) yield decoder.write(chunk);
  yield decoder.end();
}

/** A whole file as text. @throws AppError FILE_TOO_LARGE beyond `max_document_bytes`. */
export async function readDocument(file: InputFile, limits: InputLimits): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of file.chunks()) {
    bytes += chunk.length;
    if (bytes > limits.max_document_bytes)
      throw new AppError(
        "FILE_TOO_LARGE",
        `${file.path} holds more than ${Math.round(limits.max_document_bytes / 2 ** 20)} MiB, and this format must be read as a whole`,
        { mend: "export fewer benchmarks a file" },
      );
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks, bytes).toString("utf8");
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

/** The first characters of a file, for recognising its format. */
export async function readHead(file: InputFile, bytes = 1 << 16): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of file.chunks()) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= bytes) break;
  }
  const text = Buffer.concat(chunks).subarray(0, bytes).toString("utf8");
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

/** Longest first line that a document spread over several lines may have: `{`, or `{"resourceSpans": [`. */
const OPENING_CHARS = 64;

/** True when the first line that holds anything opens a JSON value and does not end it: the file is one document over several lines. */
export async function isOneDocument(file: InputFile, limits: InputLimits): Promise<boolean> {
  for await (const { lines } of readLines(file, limits, () => undefined)) {
    const line = lines.find((text) => text.trim() !== "");
    if (line === undefined) continue;
    if (line.length > OPENING_CHARS || !/^\s*[[{]/.test(line)) return false;
    try {
      JSON.parse(line);
      return false;
    } catch {
      return true;
    }
  }
  return false;
}
