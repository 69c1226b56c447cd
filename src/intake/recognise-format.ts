import path from "node:path";
import { AppError } from "../../schemas/error-codes.js";
import type { Importer } from "./importers/importer.js";
import { IMPORTERS } from "./importers/index.js";
import type { InputFile } from "./input-file.js";
import { readHead } from "./input-lines.js";

const RECOGNISED = 0.5;

/** The importer of that name. @throws AppError USAGE for a name that is none. */
export function importerNamed(name: string): Importer {
  const importer = IMPORTERS.find((candidate) => candidate.name === name);
  if (importer) return importer;
  throw new AppError("USAGE", `there is no format ${JSON.stringify(name)}`, {
    mend: `use one of ${IMPORTERS.map((i) => i.name).join(", ")}`,
  });
}

/**
 * The importer that is surest about the file's beginning. Where nobody knows it, formats of one record a line are asked about the next
 * lines, each as if the file began there: a broken first line must not refuse all others.
 *
 * @throws AppError FILE_FORMAT, FILE_UNREADABLE, FILE_EMPTY, FILE_TOO_LARGE.
 */
export async function recogniseFormat(file: InputFile): Promise<Importer> {
  const head = await readHead(file);
  if (head.trim() === "") throw new AppError("FILE_EMPTY", `${file.path} holds nothing`);
  const name = path.basename(file.path);
  const known = surest(IMPORTERS, [head], name) ?? surest(LINE_FORMATS, laterLines(head), name);
  if (known) return known;
  const other = foreignContent(head);
  if (other !== null) throw new AppError("FILE_FORMAT", `${file.path} is ${other.what}`, { mend: other.mend });
  throw new AppError("FILE_FORMAT", `${file.path} is of no known format`, {
    mend: "`whyslow import --help` lists the formats; whyslow's own form takes any tool's requests (docs/request-form.md)",
  });
}

const LINE_FORMATS = IMPORTERS.filter((importer) => importer.by_line);
const LINES_TRIED = 20;

function surest(importers: readonly Importer[], heads: readonly string[], name: string): Importer | null {
  let best: Importer | null = null;
  let score = RECOGNISED;
  for (const head of heads) {
    for (const importer of importers) {
      const found = importer.recognise(head, name);
      if (found > score) [best, score] = [importer, found];
    }
  }
  return best;
}

/** The head from its second line on, from its third, ...; lines that are indented are within something else. */
function laterLines(head: string): string[] {
  const from: string[] = [];
  for (let at = head.indexOf("\n") + 1; at > 0 && from.length < LINES_TRIED; at = head.indexOf("\n", at) + 1)
    if (/\S/.test(head[at] ?? "")) from.push(head.slice(at));
  return from;
}

/** Marks of common containers and encodings, as they look when they are read as UTF-8. */
function foreignContent(head: string): { readonly what: string; readonly mend: string } | null {
  if (head.startsWith("PK\u0003\u0004")) return { what: "a zip archive", mend: "unpack it and import what is in it" };
  const start = head.slice(0, 200);
  if (start.split("\0").length - 1 > start.length / 4) return { what: "UTF-16 text", mend: "convert it: iconv -f UTF-16 -t UTF-8" };
  return null;
}
