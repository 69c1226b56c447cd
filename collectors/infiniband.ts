import { existsSync } from "node:fs";
import { type CollectorContext, defineCollector, type Reading } from "../schemas/collector.js";
import type { Sample } from "../schemas/samples.js";
import {
  INFINIBAND_WORD_BYTES,
  parseInfinibandCounter,
  parseInfinibandRate,
  parseInfinibandState,
  parseLinkLayer,
} from "../src/text/infiniband-counters.js";
import { HeldFiles } from "./parts/held-files.js";
import { presentValues } from "./parts/present-values.js";
import { listNames, readTextAsync } from "./parts/read-text.js";

const CLASS = "class/infiniband";
/** New devices and a changed rate are looked for this often; errors, state and congestion are read every fifth time. */
const LOOK_AGAIN_US = 30_000_000;
const SLOW_EVERY = 5;
/** Each of these makes the sender send again, or wait until it would. */
const RETRY_COUNTERS = ["local_ack_timeout_err", "packet_seq_err", "rnr_nak_retry_err"];

interface Port {
  readonly key: string;
  readonly folder: string;
  readonly type: "infiniband" | "roce";
  readonly speed_bytes_per_s: number | null;
  readonly retries: readonly string[];
}

const portsUnder = (sys: string): readonly { key: string; folder: string }[] =>
  listNames(`${sys}/${CLASS}`).flatMap((device) =>
    listNames(`${sys}/${CLASS}/${device}/ports`).map((port) => ({
      key: `ib:${device}/${port}`,
      folder: `${sys}/${CLASS}/${device}/ports/${port}`,
    })),
  );

class InfinibandReader {
  private ports: readonly Port[] = [];
  private lookedAtUs = Number.NEGATIVE_INFINITY;
  private polls = 0;
  private readonly files = new HeldFiles();
  private closesWith: AbortSignal | null = null;

  async poll(ctx: CollectorContext): Promise<Reading> {
    if (this.closesWith !== ctx.signal) {
      this.closesWith = ctx.signal;
      ctx.signal.addEventListener("abort", () => this.files.close(), { once: true });
    }
    if (ctx.clock.monoUs() - this.lookedAtUs >= LOOK_AGAIN_US) await this.look(ctx);
    const slow = this.polls++ % SLOW_EVERY === 0;
    const samples: Sample[] = [];
    let unreadable = 0;
    for (const port of this.ports) {
      if (ctx.signal.aborted) break;
      const fast = await this.readFast(port);
      const ts_us = ctx.clock.wallUs();
      const values = presentValues(slow ? { ...fast, ...(await this.readSlow(port)) } : fast);
      if (fast.rx_bytes_total === null || fast.tx_bytes_total === null) unreadable++;
      if (Object.keys(values).length === 0) continue;
      samples.push({
        entity: { kind: "link", node: ctx.node, key: port.key, labels: { type: port.type } },
        ts_us,
        epoch: ctx.clock.epoch(),
        values,
      });
    }
    return { samples, notice: unreadable > 0 ? `${unreadable} of ${this.ports.length} RDMA ports give no traffic counters` : null };
  }

  private async look(ctx: CollectorContext): Promise<void> {
    this.lookedAtUs = ctx.clock.monoUs();
    this.files.close();
    const ports: Port[] = [];
    for (const { key, folder } of portsUnder(ctx.roots.sys)) {
      const type = parseLinkLayer((await readTextAsync(`${folder}/link_layer`)) ?? "");
      if (type === null) continue;
      const rate = parseInfinibandRate((await readTextAsync(`${folder}/rate`)) ?? "");
      const present = listNames(`${folder}/hw_counters`);
      ports.push({ key, folder, type, speed_bytes_per_s: rate, retries: RETRY_COUNTERS.filter((name) => present.includes(name)) });
    }
    this.ports = ports;
    this.polls = 0;
  }

  private async readFast(port: Port) {
    const words = async (name: string): Promise<number | null> => {
      const count = await this.count(port, `counters/${name}`);
      return count === null ? null : count * INFINIBAND_WORD_BYTES;
    };
    return {
      rx_bytes_total: await words("port_rcv_data"),
      tx_bytes_total: await words("port_xmit_data"),
      // Without credits there is nothing to wait for: on RoCE this counter says nothing.
      xmit_wait_ticks_total: port.type === "infiniband" ? await this.count(port, "counters/port_xmit_wait") : null,
    };
  }

  private async readSlow(port: Port) {
    return {
      speed_bytes_per_s: port.speed_bytes_per_s,
      up: parseInfinibandState((await this.files.read(`${port.folder}/state`)) ?? ""),
      rx_errors_total: await this.count(port, "counters/port_rcv_errors"),
      tx_drops_total: await this.count(port, "counters/port_xmit_discards"),
      link_downed_total: await this.count(port, "counters/link_downed"),
      cnp_handled_total: await this.count(port, "hw_counters/rp_cnp_handled"),
      ecn_marked_total: await this.count(port, "hw_counters/np_ecn_marked_roce_packets"),
      out_of_sequence_total: await this.count(port, "hw_counters/out_of_sequence"),
      retries_total: await this.retries(port),
    };
  }

  /** The sum of all retry counters that the port has; null when one of them cannot be read, because a part of a sum would look like a fall. */
  private async retries(port: Port): Promise<number | null> {
    let sum: number | null = port.retries.length > 0 ? 0 : null;
    for (const name of port.retries) {
      const count = await this.count(port, `hw_counters/${name}`);
      sum = sum === null || count === null ? null : sum + count;
    }
    return sum;
  }

  private async count(port: Port, name: string): Promise<number | null> {
    const text = await this.files.read(`${port.folder}/${name}`);
    return text === null ? null : parseInfinibandCounter(text);
  }
}

/** InfiniBand and RoCE ports, from `/sys/class/infiniband`. Read without blocking, because a sick adapter answers after a minute or never. */
export const infiniband = defineCollector({
  name: "infiniband",
  kinds: ["link"],
  mode: "poll",
  default_interval_ms: 1000,
  default_timeout_ms: 1000,
  window_ms: null,
  lag_ms: 0,
  detect: async (ctx) => {
    const ports = portsUnder(ctx.roots.sys);
    if (ports.length > 0) return { found: true, text: `RDMA ports: ${ports.map((p) => p.key.slice(3)).join(", ")}` };
    const text = existsSync(`${ctx.roots.sys}/${CLASS}`) ? "no RDMA port" : "no InfiniBand or RoCE adapter";
    return { found: false, text };
  },
  start: () => {
    const reader = new InfinibandReader();
    return { poll: (ctx) => reader.poll(ctx) };
  },
});
