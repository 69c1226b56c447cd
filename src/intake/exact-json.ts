/**
 * Keys whose values may be integers beyond 2^53. The quotes around the key are the file's own: inside of a JSON string they would
 * be escaped, so that no text content can match.
 */
const BIG_INTEGER = /("(?:\w*_ns|value|\w*UnixNano)"\s*:\s*)(\d{16,})(?=\s*[,}\]])/g;

/** JSON.parse that keeps large integer time stamps as decimal strings, where a double would round them. Throws SyntaxError. */
export function parseJsonExact(text: string): unknown {
  return JSON.parse(text.replace(BIG_INTEGER, '$1"$2"'));
}

/** A JSON object, or null for anything else. */
export function asObject(value: unknown): Readonly<Record<string, unknown>> | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
}

export const asArray = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** A finite number, also where it was written as a string; null for anything else. */
export function asNumber(value: unknown): number | null {
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value !== "string" || value === "") return null;
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
}

/** A non-empty string, or null. */
export const asText = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);
