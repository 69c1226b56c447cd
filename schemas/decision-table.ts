import fs from "node:fs";
import { z } from "zod";
import { AppError } from "./error-codes.js";
import { CLASSES, PHASES } from "./report.js";

/**
 * The decision table (`whyslow.table/v1`): everything of the diagnosis that is judgement and not code. Facts are named code; the table
 * gives their ramps, weights and groups. There is no expression language. `indeterminate` stands for "none of the five".
 */
const finite = z.number().refine(Number.isFinite, "must be finite");
const classEnum = z.enum(CLASSES);
const pair = z.tuple([finite, finite]);
const share = z.number().min(0).max(1);

const factSchema = z.strictObject({
  name: z.string().min(1),
  /** Facts of one group are capped together, so that correlated readings cannot vote twice. */
  group: z.string().min(1),
  /** [lo, hi] by name: the fact's strength is 0 at lo and 1 at hi. */
  ramps: z.record(z.string(), pair),
  /** Nats per class when the fact is fully present and fully absent. */
  weights: z.partialRecord(classEnum, pair),
  /** What the reading is worth at best. */
  quality: share.default(1),
  /** Halve the present weights when the reading does not differ from what is usual in the run. */
  contrast: z.boolean().default(false),
  /** Plain words; {value}, {expected} are filled in. */
  text: z.string().min(1),
  /** What to switch on so that this fact can speak. */
  measure: z.string().min(1),
  /** Inputs that carry it, `KIND.COLUMN` or `request.FIELD`: one of these sets, whole. */
  needs: z.array(z.array(z.string().regex(/^(gpu|host|process|link|server|request)\.[a-z0-9_]+$/)).min(1)).min(1),
  /** It stands in for this fact: not missed where that one has its inputs. */
  unless: z.string().min(1).optional(),
  /** Only where this input is there is it missed at all: one GPU has no ranks to compare. */
  only_with: z.string().min(1).optional(),
});

const causeSchema = z.strictObject({
  class: classEnum,
  cause: z.string().min(1),
  requires: z.array(z.strictObject({ fact: z.string().min(1), min: share })),
  remedy: z.string().min(1),
});

export const decisionTableSchema = z
  .strictObject({
    schema: z.literal("whyslow.table/v1"),
    confidence_basis: z.enum(["simulated", "recorded"]),
    temperature: z.number().positive(),
    /** Nats that "none of the five" is given beyond its prior: fitted with the temperature, see bench/calibrate.ts. */
    none_bias: finite.default(0),
    group_cap: z.number().positive(),
    max_confidence: share,
    answer: z.strictObject({
      min_confidence: share,
      min_margin: share,
      min_support: finite,
      strong_support: finite,
      prior_with_one_group: share,
    }),
    bands: z.strictObject({ high: share, medium: share }),
    phase_prior: z.record(z.enum(PHASES), z.record(classEnum, share)),
    facts: z.array(factSchema).min(1),
    /** In these groups the facts are alternative mechanisms: one that is present silences the absence of the others. */
    alternatives: z.array(z.string()),
    explains_away: z.array(
      z.strictObject({
        by: z.array(z.string()).min(1),
        on: z.array(z.string()).min(1),
        class: classEnum,
        sign: z.enum(["positive", "negative"]),
        factor: share,
      }),
    ),
    dose: z.strictObject({ ramp: pair, present: finite }),
    caps: z.strictObject({
      unmeasured_rival: share,
      unmeasured_rival_weak: share,
      rival_prior: share,
      rival_prior_weak: share,
      small_run: share,
      no_requests: share,
      one_group: share,
      shared_gpu: share,
      no_telemetry: share,
      smi: z.record(classEnum, share),
      smi_cpu_without_host: share,
      smi_communication_without_links: share,
      smi_throttle: share,
      /** An answer for the CPU from an idle GPU alone, where the CPU was measured and shows nothing. */
      cpu_unseen: share,
    }),
    causes: z.array(causeSchema).min(1),
    /** What tells two classes apart, in words. */
    separators: z.array(z.strictObject({ classes: z.tuple([classEnum, classEnum]), text: z.string().min(1) })),
    /** Board limits and peaks by GPU model, the first pattern that the model's name contains. */
    gpus: z.array(
      z.strictObject({
        match: z.string().min(1),
        power_w: z.number().positive(),
        nvlink_bytes_per_s: z.number(),
        pcie_bytes_per_s: z.number(),
      }),
    ),
  })
  .superRefine((table, ctx) => {
    const names = new Set<string>();
    table.facts.forEach((f, i) => {
      if (names.has(f.name)) ctx.addIssue({ code: "custom", path: ["facts", i, "name"], message: `fact "${f.name}" is there twice` });
      names.add(f.name);
    });
    const known = (name: string, path: (string | number)[]) => {
      if (!names.has(name)) ctx.addIssue({ code: "custom", path, message: `no fact is called "${name}"` });
    };
    table.facts.forEach((f, i) => {
      if (f.unless !== undefined) known(f.unless, ["facts", i, "unless"]);
    });
    table.causes.forEach((c, i) => {
      c.requires.forEach((r, j) => {
        known(r.fact, ["causes", i, "requires", j, "fact"]);
      });
    });
    table.explains_away.forEach((e, i) => {
      e.by.forEach((n, j) => {
        known(n, ["explains_away", i, "by", j]);
      });
      e.on.forEach((n, j) => {
        known(n, ["explains_away", i, "on", j]);
      });
    });
  });

export type DecisionTable = z.infer<typeof decisionTableSchema>;
export type FactRow = DecisionTable["facts"][number];
export type CauseRow = DecisionTable["causes"][number];

/** Validates a decision table. Throws AppError TABLE_INVALID that names the path of the first defect. */
export const loadDecisionTable = (json: unknown): DecisionTable => {
  const result = decisionTableSchema.safeParse(json);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const path = issue === undefined ? "" : issue.path.map(String).join(".");
  throw new AppError("TABLE_INVALID", `decision table: ${path === "" ? "(root)" : path}: ${issue?.message ?? "not valid"}`, {
    mend: "compare the table with schemas/decision-table.json of this version",
  });
};

/** The table that comes with this version. */
export const defaultDecisionTable = (): DecisionTable =>
  loadDecisionTable(JSON.parse(fs.readFileSync(new URL("./decision-table.json", import.meta.url), "utf8")));
