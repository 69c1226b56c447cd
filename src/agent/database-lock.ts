import fs from "node:fs";
import path from "node:path";
import { AppError } from "../../schemas/error-codes.js";

export interface DatabaseLock {
  /** Set when an agent that held the lock before has ended without giving it back. */
  readonly abandonedBy: { readonly pid: number } | null;
  release(): void;
}

interface Owner {
  readonly pid: number;
  /** Start of the process in clock ticks since boot: a pid alone may be another process by now. Null where it cannot be read. */
  readonly startTicks: string | null;
}

/** One agent a database: a file beside it names the process. @throws AppError DB_OPEN when another agent is at work there. */
export function lockDatabase(database: string): DatabaseLock {
  const file = `${database}.agent`;
  const mine: Owner = { pid: process.pid, startTicks: startTicks(process.pid) };
  let abandonedBy: { pid: number } | null = null;
  for (let attempt = 0; ; attempt++) {
    try {
      fs.mkdirSync(path.dirname(file), { recursive: true });
      fs.writeFileSync(file, `${JSON.stringify(mine)}\n`, { flag: "wx" });
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST" || attempt > 3) {
        throw new AppError("DB_OPEN", `the database ${database} cannot be locked: ${(error as Error).message}`, { cause: error });
      }
    }
    const other = readOwner(file);
    if (other && isSame(other)) {
      throw new AppError("DB_OPEN", `another agent (process ${other.pid}) writes to ${database}`, {
        mend: "stop it first, or give this one a database of its own with --db",
      });
    }
    if (other) abandonedBy = { pid: other.pid };
    fs.rmSync(file, { force: true });
  }
  return {
    abandonedBy,
    release() {
      const now = readOwner(file);
      if (now?.pid === mine.pid && now.startTicks === mine.startTicks) fs.rmSync(file, { force: true });
    },
  };
}

function readOwner(file: string): Owner | null {
  try {
    const { pid, startTicks } = JSON.parse(fs.readFileSync(file, "utf8")) as Partial<Owner>;
    return typeof pid === "number" ? { pid, startTicks: typeof startTicks === "string" ? startTicks : null } : null;
  } catch {
    return null;
  }
}

function isSame(owner: Owner): boolean {
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
  }
  const now = startTicks(owner.pid);
  return now === null || owner.startTicks === null || now === owner.startTicks;
}

function startTicks(pid: number): string | null {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, "latin1");
    // The program's name, in parentheses, may hold anything; the start is field 22, the 20th behind it.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null;
  } catch {
    return null;
  }
}
