import fs from "node:fs";
import path from "node:path";

/**
 * The program `nvidia-smi` that a folder on PATH gives to the agent: it hands its arguments to the lab over a Unix socket and
 * prints what comes back. Without the lab it fails as it does without a driver.
 */
export function writeStub(folder: string, socketPath: string): void {
  const script = `#!${process.execPath}
const http = require("node:http");
const request = http.request({ socketPath: ${JSON.stringify(socketPath)}, method: "POST", path: "/" }, (response) => {
  response.on("data", (chunk) => process.stdout.write(chunk));
  response.on("end", () => process.exit(Number(response.trailers["x-exit-code"] ?? 255)));
});
request.on("error", () => {
  process.stdout.write("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\\n\\n");
  process.exitCode = 9;
});
process.stdout.on("error", () => process.exit(0));
request.end(JSON.stringify(process.argv.slice(2)));
`;
  fs.writeFileSync(path.join(folder, "nvidia-smi"), script, { mode: 0o755 });
}
