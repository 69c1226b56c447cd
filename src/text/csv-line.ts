/**
 * Splits one line of comma separated values; a cell may be quoted, and a quote within it doubled (RFC 4180). Cells over several lines
 * are not read. Null when a quote is not closed.
 */
export function splitCsvLine(line: string): string[] | null {
  const cells: string[] = [];
  let at = 0;
  for (;;) {
    if (line.charCodeAt(at) !== QUOTE) {
      const end = line.indexOf(",", at);
      cells.push((end < 0 ? line.slice(at) : line.slice(at, end)).trim());
      if (end < 0) return cells;
      at = end + 1;
      continue;
    }
    let text = "";
    let from = at + 1;
    for (;;) {
      const close = line.indexOf('"', from);
      if (close < 0) return null;
      text += line.slice(from, close);
      if (line.charCodeAt(close + 1) !== QUOTE) {
        at = close + 1;
        break;
      }
      text += '"';
      from = close + 2;
    }
    cells.push(text);
    if (at >= line.length) return cells;
    if (line[at] !== ",") return null;
    at++;
  }
}

const QUOTE = 34;
