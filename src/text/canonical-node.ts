import { type Labels, pick } from "../../schemas/maps/source-map.js";

const LOCAL = /^(localhost(\.localdomain)?|127\.\d+\.\d+\.\d+|::1|0\.0\.0\.0)$/i;
/** dcgm-exporter names itself by its pod where nobody told it the node. */
const EXPORTER_POD = /dcgm-exporter/;

/** `http://host:9100/metrics`, `host:9100` and `[::1]:9100` without scheme, port and path. */
export function hostPart(address: string): string {
  const bare = address.replace(/^[a-z]+:\/\//i, "").replace(/\/.*$/, "");
  const bracketed = /^\[(.+)\](:\d+)?$/.exec(bare);
  if (bracketed !== null) return bracketed[1]!;
  return /^[^:]+:\d+$/.test(bare) ? bare.slice(0, bare.lastIndexOf(":")) : bare;
}

/** The port of an address; empty without one. */
export const portPart = (address: string): string => /:(\d+)(\/.*)?$/.exec(address)?.[1] ?? "";

export interface NodeHint {
  /** A label that names the node. */
  readonly named: string;
  /** The host of the scraped address: the node's own for host exporters, a pod's for servers. */
  readonly address: string;
  /** The scraped address, whole. */
  readonly instance: string;
  /** `NAMESPACE/POD`, empty without a pod. */
  readonly pod: string;
}

export function nodeHint(labels: Labels): NodeHint {
  const own = pick(labels, "Hostname", "hostname");
  const other = pick(labels, "node", "nodename", "kubernetes_node", "exported_node", "node_name", "k8s_node_name", "host_name", "host");
  const named = own === "" || EXPORTER_POD.test(own) || LOCAL.test(own) ? other || (EXPORTER_POD.test(own) ? own : "") : own;
  const instance = pick(labels, "worker_addr", "exported_instance", "instance");
  const address = hostPart(instance);
  const pod = pick(labels, "exported_pod", "pod", "pod_name");
  return {
    named: LOCAL.test(named) ? "" : named,
    address: LOCAL.test(address) ? "" : address,
    instance,
    pod: pod === "" ? "" : `${pick(labels, "exported_namespace", "namespace", "pod_namespace")}/${pod}`,
  };
}

/**
 * Learns from all rows of a text which nodes it speaks of, and then names the node of rows that do not say it: by the pod that
 * another row places, by an address that another row gives a name, or because there is only one node.
 */
export class NodeNames {
  readonly #named = new Set<string>();
  readonly #addresses = new Set<string>();
  readonly #byAddress = new Map<string, string>();
  readonly #byPod = new Map<string, string>();

  /** `ofHost`: the row is a node's or its devices', so its address is the node's. */
  learn(hint: NodeHint, ofHost: boolean): void {
    if (hint.named !== "") {
      this.#named.add(hint.named);
      if (hint.pod !== "") {
        this.#byPod.set(hint.pod, hint.named);
        const bare = hint.pod.replace(/^[^/]*\//, "/");
        this.#byPod.set(bare, hint.named);
      }
      if (ofHost && hint.address !== "") this.#byAddress.set(hint.address, hint.named);
    } else if (ofHost && hint.address !== "") this.#addresses.add(hint.address);
  }

  /** The node's name, or `fallback`. */
  nameOf(hint: NodeHint, ofHost: boolean, fallback: string): string {
    if (hint.named !== "") return hint.named;
    const placed = this.#byPod.get(hint.pod);
    if (placed !== undefined && hint.pod !== "") return placed;
    const known = this.#byAddress.get(hint.address) ?? (this.#named.has(hint.address) ? hint.address : undefined);
    if (known !== undefined) return known;
    const strangers = [...this.#addresses].filter((a) => !this.#byAddress.has(a) && !this.#named.has(a));
    if (this.#named.size === 1 && strangers.length <= 1) return [...this.#named][0]!;
    if (ofHost && hint.address !== "") return hint.address;
    if (this.#named.size === 0 && strangers.length === 1) return strangers[0]!;
    return fallback;
  }
}
