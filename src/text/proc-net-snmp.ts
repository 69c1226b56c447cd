import { parseCount } from "./proc-line-value.js";

/**
 * One value of `/proc/net/snmp` or `/proc/net/netstat`, which hold pairs of lines: `Tcp: NAME NAME …` and below it `Tcp: VALUE VALUE …`.
 * Columns differ between kernels and are found by name. Null when the group or the name is absent, or the value line is cut short.
 */
export const snmpValue = (text: string, group: string, name: string): number | null => {
  const prefix = `${group}: `;
  const start = text.startsWith(prefix) ? 0 : text.indexOf(`\n${prefix}`) + 1;
  if (!text.startsWith(prefix, start)) return null;
  const [names, values] = text.slice(start).split("\n", 2);
  if (names === undefined || values === undefined || !values.startsWith(prefix)) return null;
  const column = names.split(" ").indexOf(name);
  return column < 1 ? null : parseCount(values.split(" ")[column]);
};

/** TCP of one network namespace. Counters since it was made; null = not given. */
export interface TcpCounters {
  readonly out_segs: number | null;
  readonly retrans_segs: number | null;
  readonly established: number | null;
  readonly listen_overflows: number | null;
  readonly listen_drops: number | null;
}

/** Reads the texts of `/proc/net/snmp` and `/proc/net/netstat`; either may be null when it could not be read. */
export const parseTcp = (snmp: string | null, netstat: string | null): TcpCounters => {
  const of = (text: string | null, group: string, name: string): number | null => (text === null ? null : snmpValue(text, group, name));
  return {
    out_segs: of(snmp, "Tcp", "OutSegs"),
    retrans_segs: of(snmp, "Tcp", "RetransSegs"),
    established: of(snmp, "Tcp", "CurrEstab"),
    listen_overflows: of(netstat, "TcpExt", "ListenOverflows"),
    listen_drops: of(netstat, "TcpExt", "ListenDrops"),
  };
};
