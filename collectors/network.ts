import { type CollectorContext, defineCollector, type Reading } from "../schemas/collector.js";
import type { Sample } from "../schemas/samples.js";
import { parseNetDev } from "../src/text/proc-net-dev.js";
import { chooseInterfaces } from "./parts/network-interfaces.js";
import { networkProcPath } from "./parts/network-proc-path.js";
import { presentValues } from "./parts/present-values.js";
import { readText, readTextAsync } from "./parts/read-text.js";

/** Speed and the set of interfaces hardly change, and asking the driver for the speed may wait for its lock or firmware. */
const LOOK_AGAIN_US = 30_000_000;
const BYTES_PER_S_OF_MEGABIT = 1e6 / 8;

const speedOf = async (sys: string, name: string): Promise<number | null> => {
  const megabits = Number((await readTextAsync(`${sys}/class/net/${name}/speed`)) ?? "");
  // -1 and 4294967295 mean unknown (virtual machines, links that are down).
  return megabits > 0 && megabits < 4_294_967_295 ? megabits * BYTES_PER_S_OF_MEGABIT : null;
};

const isUp = (sys: string, name: string): 0 | 1 | null => {
  const state = readText(`${sys}/class/net/${name}/operstate`)?.trim();
  if (state === "up") return 1;
  return state === "down" || state === "lowerlayerdown" || state === "notpresent" ? 0 : null;
};

class NetworkReader {
  private chosen: ReadonlySet<string> = new Set();
  private names = "";
  private speeds = new Map<string, number | null>();
  private lookedAtUs = Number.NEGATIVE_INFINITY;

  async poll(ctx: CollectorContext): Promise<Reading> {
    const text = readText(`${networkProcPath(ctx.roots.proc)}/dev`);
    const ts_us = ctx.clock.wallUs();
    if (text === null) return { samples: [], notice: `${networkProcPath(ctx.roots.proc)}/dev cannot be read` };
    const { interfaces, rejected } = parseNetDev(text);
    await this.look(
      ctx,
      interfaces.map((i) => i.name),
    );
    const samples: Sample[] = [];
    for (const nic of interfaces) {
      if (!this.chosen.has(nic.name)) continue;
      samples.push({
        entity: { kind: "link", node: ctx.node, key: `nic:${nic.name}`, labels: { type: "nic" } },
        ts_us,
        epoch: ctx.clock.epoch(),
        values: presentValues({
          rx_bytes_total: nic.rx_bytes,
          tx_bytes_total: nic.tx_bytes,
          rx_errors_total: nic.rx_errors,
          tx_errors_total: nic.tx_errors,
          rx_drops_total: nic.rx_drops,
          tx_drops_total: nic.tx_drops,
          speed_bytes_per_s: this.speeds.get(nic.name),
          up: isUp(ctx.roots.sys, nic.name),
        }),
      });
    }
    return { samples, ...(rejected > 0 ? { rejected: { net_dev_line: rejected } } : {}), notice: null };
  }

  private async look(ctx: CollectorContext, names: readonly string[]): Promise<void> {
    const nowUs = ctx.clock.monoUs();
    if (names.join() === this.names && nowUs - this.lookedAtUs < LOOK_AGAIN_US) return;
    this.names = names.join();
    this.lookedAtUs = nowUs;
    this.chosen = chooseInterfaces(names, ctx.roots.sys);
    for (const name of this.chosen) this.speeds.set(name, await speedOf(ctx.roots.sys, name));
  }
}

/** The node's network interfaces, from `/proc/net/dev` and `/sys/class/net`. RDMA traffic is not in these: see `infiniband`. */
export const network = defineCollector({
  name: "network",
  kinds: ["link"],
  mode: "poll",
  default_interval_ms: 1000,
  default_timeout_ms: 1000,
  window_ms: null,
  lag_ms: 0,
  detect: async (ctx) => {
    const { interfaces } = parseNetDev(readText(`${networkProcPath(ctx.roots.proc)}/dev`) ?? "");
    const names = [
      ...chooseInterfaces(
        interfaces.map((i) => i.name),
        ctx.roots.sys,
      ),
    ];
    return names.length > 0
      ? { found: true, text: `network interfaces: ${names.join(", ")}` }
      : { found: false, text: "no network interface but the loopback" };
  },
  start: () => {
    const reader = new NetworkReader();
    return { poll: (ctx) => reader.poll(ctx) };
  },
});
