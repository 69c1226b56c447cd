import fs from "node:fs";
import type { CommandIo } from "./command-io.js";

/** The real terminal. Writing is synchronous, so nothing is lost when the process ends; a closed pipe ends it quietly. */
export function processIo(): Omit<CommandIo, "exit"> {
  const write = (fd: number, text: string): void => {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; ) {
      try {
        at += fs.writeSync(fd, bytes, at);
      } catch (error) {
        const code = (error as NodeJS.ErrnoException).code;
        if (code === "EPIPE") process.exit(0);
        if (code !== "EAGAIN") throw error;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
      }
    }
  };
  return {
    out: (text) => write(1, text),
    err: (text) => write(2, text),
    env: process.env,
    errIsTerminal: process.stderr.isTTY === true,
    outIsTerminal: process.stdout.isTTY === true,
    columns: process.stdout.columns ?? 100,
    wallUs: () => Date.now() * 1000,
  };
}
