import type { SmiGpu } from "./query-fields.js";

interface Column {
  readonly title: string;
  readonly unit: string;
  readonly width: number;
  readonly text: (gpu: SmiGpu) => string;
}

const column = (title: string, unit: string, text: Column["text"], width = 6): Column => ({ title, unit, text, width });
const percent = (ratio: number): string => String(Math.round(ratio * 100));
const mebi = (bytes: number): string => String(Math.round(bytes / (1024 * 1024)));

const POWER = [
  column("pwr", "W", (g) => String(Math.round(g.reading.power_w))),
  column("gtemp", "C", (g) => String(g.reading.temp_c)),
  column("mtemp", "C", (g) => String(g.reading.mem_temp_c)),
];
const UTIL = [
  column("sm", "%", (g) => String(g.reading.gpu_util)),
  column("mem", "%", (g) => String(g.reading.mem_util)),
  ...["enc", "dec", "jpg", "ofa"].map((name) => column(name, "%", () => "0")),
];
const CLOCK = [column("mclk", "MHz", (g) => String(g.reading.mem_clock_mhz)), column("pclk", "MHz", (g) => String(g.reading.sm_clock_mhz))];
/** Column groups by the letters of `-s`. */
const GROUPS: Readonly<Record<string, readonly Column[]>> = {
  p: POWER,
  u: UTIL,
  c: CLOCK,
  v: [column("pviol", "%", () => "0"), column("tviol", "bool", (g) => ((g.reading.clocks_event_mask & 0x60) === 0 ? "0" : "1"))],
  m: [column("fb", "MB", (g) => String(g.reading.fb_used_mib)), column("bar1", "MB", () => "8"), column("ccpm", "MB", () => "0")],
  e: [column("sbecc", "errs", () => "0"), column("dbecc", "errs", () => "0"), column("pci", "errs", () => "0")],
  t: [column("rxpci", "MB/s", (g) => mebi(g.reading.pcie_rx)), column("txpci", "MB/s", (g) => mebi(g.reading.pcie_tx))],
};

const gpm = (title: string, unit: string, text: Column["text"]): Column => column(title, `GPM:${unit}`, text, 10);
/** GPM metrics by id. */
const GPM: Readonly<Record<string, Column>> = {
  "1": gpm("gract", "%", (g) => percent(g.reading.gr)),
  "2": gpm("smutil", "%", (g) => percent(g.reading.sm)),
  "3": gpm("smocc", "%", (g) => percent(g.reading.occupancy)),
  "5": gpm("mmaact", "%", (g) => percent(g.reading.tensor)),
  "10": gpm("dram", "%", (g) => percent(g.reading.dram)),
  "20": gpm("pcitx", "MB/s", (g) => mebi(g.reading.pcie_tx)),
  "21": gpm("pcirx", "MB/s", (g) => mebi(g.reading.pcie_rx)),
  "60": gpm("nvlrx", "MB/s", (g) => mebi(g.reading.nvlink_rx)),
  "61": gpm("nvltx", "MB/s", (g) => mebi(g.reading.nvlink_tx)),
};

export interface DmonOptions {
  /** Letters of `-s`. */
  readonly groups: string;
  readonly gpm: readonly string[];
  /** `-o` letters: D date, T time. */
  readonly stamp: string;
  /** Hopper and newer only; others print `-` for ever. */
  readonly gpmSupported: boolean;
}

function columns(options: DmonOptions): Column[] {
  const plain = [...options.groups].flatMap((letter) => GROUPS[letter] ?? []);
  return [...plain, ...options.gpm.map((id) => GPM[id] ?? gpm(`gpm${id}`, "%", () => "-"))];
}

export const isKnownGroup = (letters: string): boolean => [...letters].every((letter) => GROUPS[letter] !== undefined);

export function dmonHeader(options: DmonOptions): string {
  const all = columns(options);
  const stamps = [...options.stamp];
  const lead = (names: Record<string, string>): string => stamps.map((s) => names[s]!.padEnd(s === "D" ? 9 : 9)).join("");
  const first = `${stamps.length > 0 ? "#" : "# "}${lead({ D: "Date", T: "Time" })}${stamps.length > 0 ? "  " : ""}gpu `;
  const second = `${stamps.length > 0 ? "#" : "# "}${lead({ D: "YYYYMMDD", T: "HH:MM:SS" })}${stamps.length > 0 ? "  " : ""}Idx `;
  const cells = (pick: (c: Column) => string): string => `${all.map((c) => pick(c).padStart(c.width)).join(" ")} \n`;
  return first + cells((c) => c.title) + second + cells((c) => c.unit);
}

/** One row a GPU. `cycle` counts from 0: GPM needs two snapshots, so its first values are blank. */
export function dmonRows(options: DmonOptions, gpus: readonly SmiGpu[], cycle: number): string {
  const all = columns(options);
  return gpus
    .map((gpu) => {
      const [date, time] = gpu.stamp.split(" ") as [string, string];
      const stamps: Record<string, string> = { D: date.replaceAll("/", ""), T: time.slice(0, 8) };
      const lead = [...options.stamp].map((s) => ` ${stamps[s]}`).join("");
      const blank = (c: Column): boolean => c.unit.startsWith("GPM") && (cycle === 0 || !options.gpmSupported);
      return `${lead}${String(gpu.index).padStart(5)} ${all.map((c) => (blank(c) ? "-" : c.text(gpu)).padStart(c.width)).join(" ")} \n`;
    })
    .join("");
}
