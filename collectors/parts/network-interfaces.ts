import { existsSync } from "node:fs";

/** Interfaces that only pass on, copy or tunnel what a real one carries. */
const VIRTUAL =
  /^(veth|docker|br-|virbr|vnet|cni|flannel|cali|cilium|lxc|tunl|tun|tap|ifb|dummy|wg|vxlan|geneve|gre|erspan|sit|ip6tnl|kube-|nodelocaldns|bond|team|macvlan|ipvlan|vlan)/;

/**
 * Which interfaces are the node's links: those with hardware behind them (`/sys/class/net/NAME/device`); if there is none, as in a
 * container, those that do not look virtual by name; if none is left, all but the loopback.
 */
export const chooseInterfaces = (names: readonly string[], sys: string): ReadonlySet<string> => {
  const others = names.filter((name) => name !== "lo");
  const withDevice = others.filter((name) => existsSync(`${sys}/class/net/${name}/device`));
  const plain = others.filter((name) => !VIRTUAL.test(name) && !/[.:]/.test(name));
  return new Set(withDevice.length > 0 ? withDevice : plain.length > 0 ? plain : others);
};
