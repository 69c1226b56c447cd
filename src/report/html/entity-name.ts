import type { EntityRef } from "../../../schemas/samples.js";

/** Short names for people; the node is said only where several nodes are there, the key only where names would be the same. */
export function entityNames(entities: readonly EntityRef[]): (entity: EntityRef) => string {
  const nodes = new Set(entities.map((e) => e.node));
  const name = (e: EntityRef): string =>
    [short(e), nodes.size > 1 && e.kind !== "host" && e.node ? `(${e.node})` : ""].filter(Boolean).join(" ");
  const holders = new Map<string, Set<string>>();
  for (const e of entities) {
    const of = holders.get(`${e.kind} ${name(e)}`) ?? new Set();
    of.add(`${e.node}\u0000${e.key}`);
    holders.set(`${e.kind} ${name(e)}`, of);
  }
  return (e) => (holders.get(`${e.kind} ${name(e)}`)!.size > 1 ? `${name(e)} ${e.key.slice(-12)}` : name(e));
}

function short({ kind, key, labels, node }: EntityRef): string {
  switch (kind) {
    case "gpu":
      return `${labels.index === undefined || labels.index === "" ? key.slice(0, 12) : `GPU ${labels.index}`}${key.includes("/") ? ` MIG ${key.slice(key.indexOf("/") + 1)}` : ""}`;
    case "host":
      return node || key;
    case "process":
      return labels.pod || labels.name || (labels.role && labels.role !== "other" ? labels.role : "") || lastPart(key);
    case "link":
      return key.slice(key.indexOf(":") + 1);
    case "server":
      return labels.pod || key.slice(key.indexOf(":") + 1).replace(/\/0?$/, "");
  }
}

const lastPart = (key: string): string => key.split(/[/:]/).filter(Boolean).at(-1) ?? key;
