import { StringDecoder } from "node:string_decoder";

/** What came out of a stream of bytes so far. */
export interface LineSplitter {
  /** Complete lines that this piece closes, without line ends. A half line waits for the next piece. */
  push(chunk: Uint8Array): string[];
  /** The unfinished last line, or null when there is none. */
  rest(): string | null;
  /** Lines that were longer than the limit and dropped whole: a cut line could carry a cut number. */
  readonly overlong: number;
}

/** Splits bytes into lines (`\n` or `\r\n`), characters across pieces kept whole. `maxChars` limits one line. */
export function createLineSplitter(maxChars: number): LineSplitter {
  const decoder = new StringDecoder("utf8");
  let half = "";
  let skipping = false;
  let overlong = 0;
  const take = (line: string, into: string[]): void => {
    if (skipping) skipping = false;
    else if (line.length > maxChars) overlong++;
    else into.push(line.endsWith("\r") ? line.slice(0, -1) : line);
  };
  return {
    push(chunk) {
      const lines: string[] = [];
      const text = half + decoder.write(chunk as Buffer);
      let from = 0;
      for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", from)) {
        take(text.slice(from, at), lines);
        from = at + 1;
      }
      half = text.slice(from);
      if (half.length > maxChars) {
        if (!skipping) overlong++;
        skipping = true;
        half = "";
      }
      if (skipping) half = "";
      return lines;
    },
    rest() {
      const last = half + decoder.end();
      half = "";
      return last === "" || skipping ? null : last;
    },
    get overlong() {
      return overlong;
    },
  };
}
