/** One row of `nvidia-smi topo -m`. */
export interface SmiTopoRow {
  /** `GPU0`, `NIC1`, `mlx5_0`. */
  readonly name: string;
  /** The other device to the kind of connection: `NV18`, `SYS`, `NODE`, `PHB`, `PXB`, `PIX`; without itself. */
  readonly connections: Readonly<Record<string, string>>;
  /** CPU list, e.g. `0-31,64-95`; null for NICs and `N/A`. */
  readonly cpuAffinity: string | null;
  readonly numaAffinity: string | null;
}

export interface SmiTopo {
  readonly rows: readonly SmiTopoRow[];
  /** `NIC0` to `mlx5_0`, from the NIC legend. */
  readonly nics: Readonly<Record<string, string>>;
}

const ESCAPES = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, "g");
const AFFINITY = /^(CPU Affinity|NUMA Affinity|GPU NUMA ID)$/;
const CONNECTION = /^(X|NV\d+|SYS|NODE|PHB|PXB|PIX|SOC|C2C)$/;

/** Cells by TAB as the tool prints them; pasted text has runs of blanks instead. An empty cell before `GPU NUMA ID` has no heading. */
const split = (line: string): string[] =>
  (line.includes("\t") ? line.split("\t") : line.replace(/^\s+/, "\t").split(/\t|\s{2,}/)).map((cell) => cell.trim());

const named = (text: string | undefined): string | null => (text === undefined || text === "" || text === "N/A" ? null : text);

/** Reads `topo -m`: escape codes stripped, columns by their headings, rows of NICs may be short. Empty when there is no matrix. */
export const parseSmiTopo = (text: string): SmiTopo => {
  const rows: SmiTopoRow[] = [];
  const nics: Record<string, string> = {};
  let devices: string[] | null = null;
  let affinities: string[] = [];
  for (const raw of text.split(/\r?\n/)) {
    const line = raw.replace(ESCAPES, "");
    const nic = /^\s*(NIC\d+): (\S+)\s*$/.exec(line);
    if (nic) nics[nic[1]!] = nic[2]!;
    const cells = split(line);
    if (devices === null) {
      const headings = cells.filter((cell) => cell !== "");
      if (!/^GPU\d+$/.test(headings[0] ?? "")) continue;
      devices = headings.filter((cell) => !AFFINITY.test(cell));
      affinities = headings.filter((cell) => AFFINITY.test(cell));
      continue;
    }
    const name = cells[0] ?? "";
    if (!devices.includes(name)) continue;
    const connections: Record<string, string> = {};
    devices.forEach((device, i) => {
      const cell = cells[i + 1];
      if (cell !== undefined && device !== name && CONNECTION.test(cell)) connections[device] = cell;
    });
    const rest = cells.slice(devices.length + 1);
    const affinity = (heading: string): string | null => named(rest[affinities.indexOf(heading)]);
    rows.push({ name, connections, cpuAffinity: affinity("CPU Affinity"), numaAffinity: affinity("NUMA Affinity") });
  }
  return { rows, nics };
};
