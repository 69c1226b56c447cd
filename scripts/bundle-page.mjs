// Bundles the report page's script and style (src/report/page/) into dist/src/report/page/bundle.*, uPlot and its licence included.
import fs from "node:fs";
import path from "node:path";
import { buildSync } from "esbuild";

const root = path.resolve(import.meta.dirname, "..");

export function bundlePage(out = path.join(root, "dist", "src", "report", "page")) {
  const licence = fs.readFileSync(path.join(root, "node_modules", "uplot", "LICENSE"), "utf8").trim();
  buildSync({
    absWorkingDir: root,
    entryPoints: { bundle: "src/report/page/main.ts" },
    outdir: out,
    bundle: true,
    minify: true,
    format: "iife",
    target: ["es2022"],
    charset: "ascii",
    legalComments: "none",
    banner: { js: `/* Contains uPlot 1.6.32.\n${licence}\n*/`, css: "/* Contains the style of uPlot 1.6.32 (MIT). */" },
    tsconfig: "src/report/page/tsconfig.json",
    logLevel: "warning",
  });
  fs.writeFileSync(path.join(out, "bundle.licence.txt"), `uPlot 1.6.32\n${licence}\n`);
}
