/** Marks up text for a terminal; `plain` leaves it as it is. */
export interface Paint {
  bold(text: string): string;
  dim(text: string): string;
  colour(name: "red" | "yellow" | "green" | "cyan", text: string): string;
}

export const plain: Paint = { bold: (t) => t, dim: (t) => t, colour: (_, t) => t };

/** A table of cells with two blanks between columns; columns named in `right` are right-aligned. No trailing blanks. */
export function table(rows: readonly (readonly string[])[], right: readonly number[] = [], indent = ""): string[] {
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, i) => (widths[i] = Math.max(widths[i] ?? 0, cell.length)));
  return rows.map((row) =>
    `${indent}${row.map((cell, i) => (right.includes(i) ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!))).join("  ")}`.trimEnd(),
  );
}

/** Breaks text at blanks so that no line is longer than `width`, continuing lines indented by `hang`. */
export function wrap(text: string, width: number, indent = "", hang = indent): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const lead = lines.length === 0 ? indent : hang;
    if (line && lead.length + line.length + 1 + word.length > width) {
      lines.push(lead + line);
      line = word;
    } else line = line ? `${line} ${word}` : word;
  }
  if (line) lines.push((lines.length === 0 ? indent : hang) + line);
  return lines;
}

/** Cuts in the middle, so that both ends of an identifier stay readable. */
export function shorten(text: string, width: number): string {
  if (text.length <= width) return text;
  const head = Math.ceil((width - 1) / 2);
  return `${text.slice(0, head)}…${text.slice(text.length - (width - 1 - head))}`;
}
