import type { CommandIo } from "../command-io.js";

const WIDTH = 30;

/** A bar that rewrites its line on a terminal; elsewhere only the stages are told, one line each. */
export class Progress {
  private shown = false;

  constructor(private readonly io: Pick<CommandIo, "err" | "errIsTerminal">) {}

  stage(text: string): void {
    this.clear();
    this.io.err(`${text}\n`);
  }

  bar(done: number, total: number, text: string): void {
    if (!this.io.errIsTerminal) return;
    const full = Math.round((WIDTH * Math.min(done, total)) / total);
    this.io.err(`\r\u001b[K[${"#".repeat(full)}${".".repeat(WIDTH - full)}] ${Math.round(done)} of ${Math.round(total)} s  ${text}`);
    this.shown = true;
  }

  clear(): void {
    if (this.shown) this.io.err("\r\u001b[K");
    this.shown = false;
  }
}
