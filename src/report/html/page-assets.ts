import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** What `scripts/bundle-page.mjs` makes of `src/report/page/`. */
export interface PageAssets {
  readonly script: string;
  readonly style: string;
  /** Licence of the chart library, which the script contains. */
  readonly licence: string;
}

const HERE = path.dirname(fileURLToPath(import.meta.url));
/** In the built package the bundle lies beside this folder; run from the sources it lies in the built package. */
const PLACES = [path.join(HERE, "../page"), path.join(HERE, "../../../dist/src/report/page")];

/** Reads the bundle. Throws when the package was not built. */
export function loadPageAssets(): PageAssets {
  const folder = PLACES.find((place) => fs.existsSync(path.join(place, "bundle.js")));
  if (folder === undefined) throw new Error("the report page is not built: run 'npm run build'");
  const read = (name: string): string => fs.readFileSync(path.join(folder, name), "utf8");
  return { script: read("bundle.js"), style: read("bundle.css"), licence: read("bundle.licence.txt") };
}
