import http from "node:http";
import type { LiveNode } from "../live-node.js";
import { type SmiRun, smiRun } from "./command.js";

/** `hang`: nothing comes any more, old loops included. `garbage`: binary rubbish. `exit`: the driver is gone. */
export type SmiMode = "normal" | "hang" | "garbage" | "exit";
export const SMI_MODES: readonly SmiMode[] = ["normal", "hang", "garbage", "exit"];

export interface SmiEndpoint {
  setMode(mode: SmiMode): void;
  /** Calls so far, by their first argument. */
  readonly calls: Readonly<Record<string, number>>;
  close(): Promise<void>;
}

const GARBAGE = Buffer.from([0, 255, 254, 0x2c, 0x2c, 10, 0x80, 0x81, 0x22, 10, 0x2d, 10]);
const NO_DRIVER =
  "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n\n";

/** Answers the stub's calls on a Unix socket: the output as the body, the exit status as a trailer. */
export async function serveSmi(live: LiveNode, socketPath: string): Promise<SmiEndpoint> {
  let mode: SmiMode = "normal";
  const calls: Record<string, number> = {};

  function answer(args: readonly string[], response: http.ServerResponse): void {
    const name = (args[0] ?? "").split("=")[0]!;
    calls[name] = (calls[name] ?? 0) + 1;
    if (mode === "hang") return;
    response.writeHead(200, { trailer: "x-exit-code" });
    const end = (text: string | Buffer, exit: number): void => {
      response.write(text);
      response.addTrailers({ "x-exit-code": String(exit) });
      response.end();
    };
    const run = smiRun(live, args);
    if (mode === "garbage") end(GARBAGE, 0);
    else if (mode === "exit") end(NO_DRIVER, 9);
    else if (!run.loop) end(run.first, run.exit);
    else {
      response.write(run.first);
      repeat(run.loop, run.exit, response, end);
    }
  }

  function repeat(
    { every_ms, times, next }: NonNullable<SmiRun["loop"]>,
    exit: number,
    response: http.ServerResponse,
    end: (text: string | Buffer, exit: number) => void,
  ): void {
    let cycle = 0;
    const tick = (): void => {
      if (mode === "hang") return;
      if (mode === "exit") {
        clearInterval(timer);
        end(NO_DRIVER, 9);
        return;
      }
      response.write(mode === "garbage" ? GARBAGE : next(cycle));
      cycle++;
      if (cycle < times) return;
      clearInterval(timer);
      end("", exit);
    };
    const timer = setInterval(tick, Math.max(10, every_ms));
    response.on("close", () => clearInterval(timer));
    tick();
  }

  const server = http.createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (chunk: string) => {
      body += chunk;
    });
    request.on("end", () => answer(JSON.parse(body) as string[], response));
  });
  // A loop may run for hours without a byte from the other side.
  server.requestTimeout = 0;
  server.timeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(socketPath, resolve);
  });
  return {
    calls,
    setMode: (next) => {
      mode = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
