import fs from "node:fs";
import os from "node:os";
import path from "node:path";

/** A folder with an executable `nvidia-smi` of our own, for the front of PATH. */
export function fakeProgram(script: string): { env: Record<string, string>; dir: string; remove(): void } {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), "whyslow-fake-"));
  fs.writeFileSync(path.join(dir, "nvidia-smi"), script, { mode: 0o755 });
  return { dir, env: { PATH: `${dir}:${process.env.PATH}` }, remove: () => fs.rmSync(dir, { recursive: true, force: true }) };
}

/** Whether a process is there and no zombie. */
export function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(fs.readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

export async function until(condition: () => boolean, what: string, ms = 40_000): Promise<void> {
  const end = performance.now() + ms;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`did not happen: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
