import fs from "node:fs";

const LISTEN_STATE = "0A";

/** Who listens on a TCP port of this machine, as `name (pid N)`; null when that cannot be seen from here. */
export function portOwner(port: number): string | null {
  const inodes = new Set(["tcp", "tcp6"].flatMap((name) => listeningInodes(`/proc/net/${name}`, port)));
  if (inodes.size === 0) return null;
  for (const pid of names("/proc")) {
    if (!/^\d+$/.test(pid)) continue;
    for (const fd of names(`/proc/${pid}/fd`)) {
      const link = readLink(`/proc/${pid}/fd/${fd}`);
      if (link.startsWith("socket:[") && inodes.has(link.slice(8, -1))) return `${readText(`/proc/${pid}/comm`).trim()} (pid ${pid})`;
    }
  }
  return null;
}

function listeningInodes(file: string, port: number): string[] {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return readText(file)
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter((cells) => cells[1]?.endsWith(wanted) && cells[3] === LISTEN_STATE)
    .flatMap((cells) => (cells[9] ? [cells[9]] : []));
}

const orElse = <T>(read: () => T, otherwise: T): T => {
  try {
    return read();
  } catch {
    return otherwise;
  }
};
const names = (dir: string): string[] => orElse(() => fs.readdirSync(dir), []);
const readText = (file: string): string => orElse(() => fs.readFileSync(file, "utf8"), "");
const readLink = (file: string): string => orElse(() => fs.readlinkSync(file), "");
