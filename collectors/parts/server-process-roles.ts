import { flagValue } from "../../src/text/proc-pid-cmdline.js";
import { resolveCommand, type ServerCommand } from "./server-command.js";

/**
 * What a process of an inference server does. `api_server`: HTTP, and tokenizing where no process of its own does it. `engine` and
 * `scheduler` poll: a busy one is no evidence by itself.
 */
export type ServerRole = "api_server" | "tokenizer" | "detokenizer" | "engine" | "scheduler" | "worker" | "other";

export interface ServerRoleMatch {
  readonly engine: string;
  readonly role: ServerRole;
  /** Title or program, without arguments. */
  readonly name: string;
  /** Where its metrics are expected, for front ends: the flag, else the engine's default. */
  readonly port: number | null;
  /** Served name, else model name or path; never any other argument. */
  readonly model: string | null;
}

interface Rule {
  readonly engine: string;
  readonly role: ServerRole;
  readonly matches: (c: ServerCommand) => boolean;
  /** A front end: its port flags and their default. */
  readonly port?: { readonly flags: readonly string[]; readonly fallback: number };
  /** The model may follow this many sub-commands as a plain argument. */
  readonly modelAfter?: number;
}

const program =
  (name: string, ...subcommands: readonly string[]) =>
  (c: ServerCommand): boolean =>
    c.program === name && subcommands.every((s, i) => c.args[i] === s);
const module =
  (...names: readonly string[]) =>
  (c: ServerCommand): boolean =>
    names.some((n) => (n.endsWith(".") ? c.module.startsWith(n) : c.module === n));
const anyOf =
  (...tests: readonly ((c: ServerCommand) => boolean)[]) =>
  (c: ServerCommand): boolean =>
    tests.some((t) => t(c));

const PORT = ["--port"];
/** In order: the first that matches wins. Sources: the projects' entry points and their process titles. */
const RULES: readonly Rule[] = [
  { engine: "vllm", role: "api_server", matches: program("vllm", "serve"), port: { flags: PORT, fallback: 8000 }, modelAfter: 1 },
  {
    engine: "vllm",
    role: "api_server",
    matches: anyOf(
      module("vllm.entrypoints.openai.api_server", "vllm.entrypoints.api_server"),
      (c) => c.program === "api_server" && c.path.includes("vllm/entrypoints/"),
    ),
    port: { flags: PORT, fallback: 8000 },
  },
  {
    engine: "vllm",
    role: "api_server",
    matches: (c) => (c.module === "vllm" || c.module === "vllm.entrypoints.cli.main") && c.args[0] === "serve",
    port: { flags: PORT, fallback: 8000 },
    modelAfter: 1,
  },
  {
    engine: "sglang",
    role: "api_server",
    matches: anyOf(module("sglang.launch_server"), program("sglang", "serve"), (c) => /sglang\/launch_server(\.py)?$/.test(c.path)),
    port: { flags: PORT, fallback: 30_000 },
  },
  {
    engine: "tgi",
    role: "api_server",
    matches: (c) => /^text-generation-router/.test(c.program),
    port: { flags: ["--port", "-p"], fallback: 3000 },
  },
  { engine: "tgi", role: "worker", matches: program("text-generation-server", "serve"), modelAfter: 1 },
  { engine: "tgi", role: "other", matches: program("text-generation-launcher") },
  { engine: "triton", role: "api_server", matches: program("tritonserver"), port: { flags: ["--metrics-port"], fallback: 8002 } },
  {
    engine: "triton",
    role: "tokenizer",
    matches: (c) =>
      c.program === "triton_python_backend_stub" && /pre_?proc|tokeniz/i.test(c.args[0] ?? "") && !/detok/i.test(c.args[0] ?? ""),
  },
  {
    engine: "triton",
    role: "detokenizer",
    matches: (c) => c.program === "triton_python_backend_stub" && /post_?proc|detok/i.test(c.args[0] ?? ""),
  },
  { engine: "triton", role: "worker", matches: program("triton_python_backend_stub") },
  {
    engine: "trtllm",
    role: "api_server",
    matches: anyOf(program("trtllm-serve"), module("tensorrt_llm.commands.serve")),
    port: { flags: PORT, fallback: 8000 },
    modelAfter: 0,
  },
  { engine: "trtllm", role: "worker", matches: anyOf(program("mgmn_worker_node"), module("tensorrt_llm.llmapi.mgmn_worker_node")) },
  {
    engine: "dynamo",
    role: "api_server",
    matches: module("dynamo.frontend", "dynamo.frontend."),
    port: { flags: ["--http-port"], fallback: 8000 },
  },
  {
    engine: "dynamo",
    role: "engine",
    matches: module("dynamo.vllm", "dynamo.sglang", "dynamo.trtllm", "dynamo.vllm.", "dynamo.sglang.", "dynamo.trtllm."),
  },
  { engine: "llamacpp", role: "api_server", matches: program("llama-server"), port: { flags: PORT, fallback: 8080 } },
  {
    engine: "lmdeploy",
    role: "api_server",
    matches: program("lmdeploy", "serve", "api_server"),
    port: { flags: ["--server-port"], fallback: 23_333 },
    modelAfter: 2,
  },
  { engine: "ollama", role: "engine", matches: anyOf(program("ollama", "runner"), program("ollama_llama_server")) },
  { engine: "ollama", role: "api_server", matches: program("ollama", "serve"), port: { flags: [], fallback: 11_434 } },
  { engine: "litellm", role: "api_server", matches: program("litellm"), port: { flags: PORT, fallback: 4000 } },
];

/** Titles that processes give themselves; the kernel keeps them in place of the arguments. */
const TITLES: readonly (readonly [RegExp, string, ServerRole])[] = [
  [/^VLLM::API_?Server/i, "vllm", "api_server"],
  [/^VLLM::(DP)?Engine_?Core/i, "vllm", "engine"],
  [/^VLLM::Worker/i, "vllm", "worker"],
  [/^ray::RayWorker(Wrapper|Proc)/, "vllm", "worker"],
  [/^VLLM::/i, "vllm", "other"],
  [/^sglang::scheduler/, "sglang", "scheduler"],
  [/^sglang::detokenizer/, "sglang", "detokenizer"],
  [/^sglang::tokenizer/, "sglang", "tokenizer"],
  [/^sglang::/, "sglang", "other"],
];

const SAFE_NAME = /^[A-Za-z0-9_:.@+-]{1,64}/;
const MODEL_FLAGS = ["--served-model-name", "--model", "--model-path", "--model-id", "--model-name", "--alias", "-m"];

/** A model's name is data for reports: no control characters, no address with credentials or a query, not endless. */
const cleanModel = (text: string | null): string | null => {
  if (text === null) return null;
  const path = text.includes("://") ? text.replace(/[?#].*$/, "").replace(/^.*\//, "") : text;
  const printable = [...path].filter((ch) => ch >= " " && ch !== "\u007f").join("");
  return printable === "" ? null : printable.slice(0, 200);
};

const modelOf = (rule: Rule, args: readonly string[]): string | null => {
  for (const flag of MODEL_FLAGS) {
    const value = flagValue(args, flag);
    if (value !== null) return cleanModel(value);
  }
  if (rule.modelAfter === undefined) return null;
  const at = args[rule.modelAfter] === "serve" ? rule.modelAfter + 1 : rule.modelAfter;
  const plain = args[at];
  return plain === undefined || plain.startsWith("-") ? null : cleanModel(plain);
};

/** Recognises a process of an inference server by its arguments or title; null for any other process. */
export const matchServerRole = (args: readonly string[]): ServerRoleMatch | null => {
  const first = args[0] ?? "";
  for (const [title, engine, role] of TITLES)
    if (title.test(first)) return { engine, role, name: SAFE_NAME.exec(first)?.[0] ?? role, port: null, model: null };
  const command = resolveCommand(args);
  const rule = command === null ? undefined : RULES.find((r) => r.matches(command));
  if (command === null || rule === undefined) return null;
  const flag = rule.port === undefined ? null : flagValue(command.args, ...rule.port.flags);
  return {
    engine: rule.engine,
    role: rule.role,
    name: SAFE_NAME.exec(command.program === "" ? command.module : command.program)?.[0] ?? rule.engine,
    port: rule.port === undefined ? null : flag !== null && /^\d{1,5}$/.test(flag) ? Number(flag) : rule.port.fallback,
    model: modelOf(rule, command.args),
  };
};
