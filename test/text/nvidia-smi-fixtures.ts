import { existsSync, readFileSync } from "node:fs";

/** A fixture's text, e.g. `590.48.01/list.txt`. */
export const smiFixture = (name: string): string => readFileSync(new URL(`../fixtures/nvidia-smi/${name}`, import.meta.url), "utf8");

/** Captures of real machines, where the checkout has them beside it. */
export const SMI_SAMPLES = new URL("../../../shared/samples/nvidia-smi/", import.meta.url);
export const hasSmiSamples = existsSync(SMI_SAMPLES);
export const smiSample = (name: string): string => readFileSync(new URL(name, SMI_SAMPLES), "utf8");
