/**
 * What nvidia-smi says when it cannot answer. The texts come on stdout, alone or between good rows; the exit status is a second,
 * weaker hint (14 and 15 may come with valid rows, 0 with none). Source: captures and issue threads, drivers 415 to 610; man page.
 */
export type SmiState =
  | "not_found"
  | "no_devices"
  | "no_driver"
  | "version_mismatch"
  | "nvml_unknown_error"
  | "no_permission"
  | "no_supported_gpus"
  | "blocked_by_os"
  | "library_missing"
  | "device_lost"
  | "invalid_field"
  | "bad_option"
  | "not_supported"
  | "inforom_corrupt"
  | "timeout"
  | "failed";

export interface SmiProblem {
  readonly state: SmiState;
  /** `program`: nothing can be read; `device`: one GPU, other rows stay good; `field`: ask without it; `option`: ask otherwise; `warning`: rows are good. */
  readonly scope: "program" | "device" | "field" | "option" | "warning";
  /** One line for a person. */
  readonly text: string;
  /** The GPU's bus id as printed (`device` and `warning`). */
  readonly busId?: string;
  /** The refused name (`field`). */
  readonly field?: string;
  /** What to do about it. */
  readonly mend?: string;
}

type Rule = readonly [pattern: RegExp, build: (match: RegExpExecArray, line: string) => SmiProblem];

const program =
  (state: SmiState, mend?: string): Rule[1] =>
  (_match, line) => ({ state, scope: "program", text: line, ...(mend === undefined ? {} : { mend }) });

const REBOOT = "the driver was upgraded under a running kernel module: reload the module or reboot";
const CGROUP = "the container lost access to its GPU devices (often after a systemd daemon-reload): restart the container";

const RULES: readonly Rule[] = [
  [
    /^Field "([^"]*)" is not a valid field to query/,
    (m, line) => ({ state: "invalid_field", scope: "field", text: line, field: m[1] ?? "" }),
  ],
  [/couldn't communicate with the NVIDIA driver/, program("no_driver", "load or install the NVIDIA driver")],
  [/Driver\/library version mismatch/, program("version_mismatch", REBOOT)],
  [/^Failed to initialize NVML: Unknown Error/, program("nvml_unknown_error", CGROUP)],
  [/^Failed to initialize NVML: Insufficient Permissions/, program("no_permission", "give this user access to /dev/nvidia*")],
  [/No supported GPUs were found/, program("no_supported_gpus")],
  [/GPU access blocked by the operating system/, program("blocked_by_os")],
  [/^No devices were found/, program("no_devices")],
  [/^Failed to initialize NVML|^NVML Shared Library Not Found|couldn't find libnvidia-ml/i, program("library_missing")],
  [
    /^Unable to determine the device handle for (?:gpu|GPU)(?:\d+:)?\s*([0-9A-Fa-f]{4,8}:[0-9A-Fa-f:.]+):\s*.+$/,
    (m, line) => ({ state: "device_lost", scope: "device", text: line, busId: m[1] ?? "" }),
  ],
  [
    /infoROM is corrupted at gpu\s*([0-9A-Fa-f:.]+)?/,
    (m, line) => ({ state: "inforom_corrupt", scope: "warning", text: line, ...(m[1] === undefined ? {} : { busId: m[1] }) }),
  ],
  [/is not recognized|^Invalid combination of input arguments/, (_m, line) => ({ state: "bad_option", scope: "option", text: line })],
  [/^Not supported on the device/, (_m, line) => ({ state: "not_supported", scope: "option", text: line })],
];

/** Second lines of the texts above, which say nothing of their own. */
const NOISE = /^(NVML library version:|Unable to determine the number of GPUs|Failed to process command line|Please run 'nvidia-smi -h')/;

/** True for a line that only accompanies another message. */
export const isSmiNoise = (line: string): boolean => NOISE.test(line.trim());

/** The problem that a line of output states; null for rows and for everything else. */
export const classifySmiLine = (raw: string): SmiProblem | null => {
  const line = raw.trim();
  for (const [pattern, build] of RULES) {
    const match = pattern.exec(line);
    if (match) return build(match, line);
  }
  return null;
};

const BY_EXIT: Readonly<Record<number, readonly [SmiState, SmiProblem["scope"], string]>> = {
  2: ["bad_option", "option", "nvidia-smi refused its arguments"],
  3: ["not_supported", "option", "not supported on this GPU"],
  4: ["no_permission", "program", "no permission to query the GPU"],
  6: ["no_devices", "program", "no devices were found"],
  9: ["no_driver", "program", "the NVIDIA driver is not loaded"],
  12: ["library_missing", "program", "the NVML library was not found"],
  14: ["inforom_corrupt", "warning", "infoROM is corrupted"],
  15: ["device_lost", "device", "a GPU has fallen off the bus"],
  17: ["blocked_by_os", "program", "GPU access blocked by the operating system"],
  18: ["version_mismatch", "program", "driver and library versions differ"],
};

/** How a call ended, in the shape of a command's result. */
export interface SmiEnd {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  readonly notFound: boolean;
}

/** All problems that a finished call states: its text first, its exit status only when the text says nothing. Empty = none. */
export const classifySmiEnd = (end: SmiEnd): readonly SmiProblem[] => {
  if (end.notFound) {
    return [
      {
        state: "not_found",
        scope: "program",
        text: "nvidia-smi not found",
        mend: "install the NVIDIA driver, or put nvidia-smi on the PATH",
      },
    ];
  }
  const found: SmiProblem[] = [];
  for (const line of `${end.stdout}\n${end.stderr}`.split("\n")) {
    const problem = classifySmiLine(line);
    if (problem && !found.some((p) => p.text === problem.text)) found.push(problem);
  }
  if (found.length > 0) return found;
  if (end.timedOut) return [{ state: "timeout", scope: "program", text: "nvidia-smi did not answer in time" }];
  if (end.exitCode === 0) return [];
  const known = end.exitCode === null ? undefined : BY_EXIT[end.exitCode];
  if (known) return [{ state: known[0], scope: known[1], text: known[2] }];
  const code = end.exitCode === null ? "was killed" : `ended with status ${end.exitCode}`;
  return [{ state: "failed", scope: "program", text: `nvidia-smi ${code}` }];
};
