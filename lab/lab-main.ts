import { type Endpoint, serveHttp } from "./http-endpoint.js";
import { type LabNode, type LabOptions, startLabNode } from "./lab-node.js";
import type { FaultRequest } from "./live-node.js";
import type { SmiMode } from "./smi/endpoint.js";

/** What the lab's process prints as its first line. */
export interface LabAddresses {
  readonly dcgmUrl: string;
  readonly serverUrl: string;
  readonly binDir: string;
  readonly procRoot: string;
  readonly sysRoot: string;
  /** POST JSON to `/begin`, `/fault`, `/otlp`, `/smi`, `/drain`; GET `/truth`, `/state`. */
  readonly controlUrl: string;
  readonly pid: number;
}

function serveControl(lab: LabNode): Promise<Endpoint> {
  return serveHttp(async (request, response, body) => {
    const json = (value: unknown): unknown =>
      response.writeHead(200, { "content-type": "application/json" }).end(`${JSON.stringify(value)}\n`);
    const given = body === "" ? null : (JSON.parse(body) as unknown);
    if (request.method === "GET" && request.url === "/truth") json(lab.truth());
    else if (request.method === "GET" && request.url === "/state")
      json({ now_us: lab.live.epoch_us + lab.live.advance(), requests: lab.live.node.requests.length, spans_sent: lab.otlp.sent });
    else if (request.url === "/begin") {
      lab.live.begin();
      json({});
    } else if (request.url === "/fault") json(lab.setFault(given as FaultRequest));
    else if (request.url === "/otlp") {
      lab.setOtlpTarget((given as { target: string | null }).target);
      json({});
    } else if (request.url === "/smi") {
      lab.setSmiMode((given as { mode: SmiMode }).mode);
      json({});
    } else if (request.url === "/drain") {
      await lab.drain();
      json({ pending: lab.live.pending(), spans_sent: lab.otlp.sent });
    } else response.writeHead(404).end();
  });
}

/** The lab as a process of its own: `node lab-main.js [OPTIONS_AS_JSON]`. Ends on SIGTERM, SIGINT, and when its standard input closes. */
async function main(): Promise<void> {
  const lab = await startLabNode(JSON.parse(process.argv[2] ?? "{}") as LabOptions);
  const control = await serveControl(lab);
  const addresses: LabAddresses = {
    dcgmUrl: lab.dcgmUrl,
    serverUrl: lab.serverUrl,
    binDir: lab.binDir,
    procRoot: lab.procRoot,
    sysRoot: lab.sysRoot,
    controlUrl: control.url,
    pid: process.pid,
  };
  process.stdout.write(`${JSON.stringify(addresses)}\n`);
  const end = (): void => {
    void Promise.all([control.close(), lab.stop()]).finally(() => process.exit(0));
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, end);
  process.stdin.on("end", end);
  process.stdin.on("error", end);
  process.stdin.resume();
}

await main();
