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
 * The importer that is surest about the file's beginning.
 *
 * @throws AppError FILE_FORMAT that names what was looked for; FILE_UNREADABLE, FILE_EMPTY, FILE_TOO_LARGE.
 */
export async function recogniseFormat(file: InputFile): Promise<Importer> {
  const head = await readHead(file);
  if (head.trim() === "") throw new AppError("FILE_EMPTY", `${file.path} holds nothing`);
  const scored = IMPORTERS.map((importer) => ({ importer, score: importer.recognise(head, path.basename(file.path)) }));
  const best = scored.reduce((a, b) => (b.score > a.score ? b : a));
  if (best.score > RECOGNISED) return best.importer;
  const names = IMPORTERS.map((i) => i.name).join(", ");
  throw new AppError("FILE_FORMAT", `${file.path} is of no known format; looked for ${names}`, {
    mend: "name the format with --format if it is one of these, or bring the requests into whyslow's own form (docs/request-form.md)",
  });
}
