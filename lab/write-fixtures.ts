import path from "node:path";
import { fileURLToPath } from "node:url";
import { recordRun } from "./record-run.js";
import { RECORDINGS } from "./recordings.js";

/** Writes the recordings into a folder, one subfolder each: `tsx lab/write-fixtures.ts [FOLDER]`. */
const folder = process.argv[2] ?? fileURLToPath(new URL("../test/fixtures/lab", import.meta.url));
for (const [name, recording] of Object.entries(RECORDINGS)) recordRun(recording, path.join(folder, name));
