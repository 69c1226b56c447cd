/**
 * One value as nvidia-smi prints it in CSV, dmon and XML: a number with or without unit, a hexadecimal mask, a word, or one of the
 * many ways to say "there is none". Source: captures of drivers 418 to 610.
 */
export type SmiCell =
  | { readonly kind: "number"; readonly value: number; readonly unit: string | null }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "missing"; readonly reason: SmiMissing };

/** Why a cell holds nothing. The last three mean that the device itself is in trouble. */
export type SmiMissing =
  | "empty"
  | "not_available"
  | "not_supported"
  | "no_permission"
  | "no_function"
  | "deprecated"
  | "not_found"
  | "timeout"
  | "unreadable"
  | "unknown_error"
  | "requires_reset"
  | "gpu_lost";

const DEVICE_FAULTS: ReadonlySet<SmiMissing> = new Set(["unknown_error", "requires_reset", "gpu_lost"]);

/** True when the reason says that the device is broken, so that the numbers beside the cell cannot be trusted either. */
export const isDeviceFault = (reason: SmiMissing): boolean => DEVICE_FAULTS.has(reason);

const WORDS: readonly (readonly [RegExp, SmiMissing])[] = [
  [/^n\/?a$/i, "not_available"],
  [/^not supported$/i, "not_supported"],
  [/requires reset/i, "requires_reset"],
  [/is lost/i, "gpu_lost"],
  [/^unknown error$/i, "unknown_error"],
  [/permission/i, "no_permission"],
  [/^function not found$/i, "no_function"],
  [/has been deprecated|^deprecated/i, "deprecated"],
  [/^not found$/i, "not_found"],
  [/^timeout$/i, "timeout"],
  [/^err!?$/i, "unreadable"],
];

/** Dashes that stand for "none": ASCII, and the en dash and minus sign that text processing puts in its place. */
const DASH = /^[-\u2013\u2014\u2212]$/;
const NUMBER = /^([+-]?\d+(?:\.\d+)?)(?:\s*([A-Za-z%][A-Za-z/%()]*))?$/;
const HEX = /^0x[0-9a-fA-F]+$/;

const missingReason = (text: string): SmiMissing | null => {
  if (text === "") return "empty";
  if (DASH.test(text)) return "not_available";
  const bracketed = text.startsWith("[") && text.endsWith("]");
  const inner = bracketed ? text.slice(1, -1).trim() : text;
  const word = WORDS.find(([pattern]) => pattern.test(inner));
  if (word) return word[1];
  return bracketed ? "unreadable" : null;
};

/** Reads one cell; surrounding blanks do not matter. A mask above 2^53 is `unreadable`, because a number cannot hold its bits. */
export const parseSmiCell = (raw: string): SmiCell => {
  const text = raw.trim();
  if (HEX.test(text)) {
    const mask = BigInt(text);
    if (mask > BigInt(Number.MAX_SAFE_INTEGER)) return { kind: "missing", reason: "unreadable" };
    return { kind: "number", value: Number(mask), unit: null };
  }
  const number = NUMBER.exec(text);
  if (number) return { kind: "number", value: Number(number[1]), unit: number[2] ?? null };
  const reason = missingReason(text);
  return reason === null ? { kind: "text", text } : { kind: "missing", reason };
};

/** The cell's text without blanks, or null when it says that there is none. For names, identifiers and versions. */
export const smiText = (raw: string | undefined): string | null => {
  const text = raw?.trim() ?? "";
  return missingReason(text) === null ? text : null;
};
