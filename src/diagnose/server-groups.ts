import type { DiagnosisInput, Track } from "../../schemas/index.js";
import { matchServer } from "./match-server.js";

/** One inference server with everything that belongs to it. */
export interface ServerGroup {
  /** Pod, URL or instance of the server; null when nothing names it. */
  readonly name: string | null;
  /** Rows of the run's requests, in order of arrival. */
  readonly rows: Int32Array;
  readonly servers: readonly Track[];
  /** Tracks of each GPU (one entity may be read by several sources), in order of key. */
  readonly gpus: readonly (readonly Track[])[];
  readonly processes: readonly (readonly Track[])[];
  readonly hosts: readonly Track[];
  readonly links: readonly (readonly Track[])[];
  /** How sure it is that several GPUs form one tensor-parallel group: 1 named, 0.6 assumed, 0 a single GPU or unknown. */
  readonly groupQuality: number;
  /** True when several servers are there and these requests name none of them. */
  readonly ambiguous: boolean;
}

type Labels = Readonly<Record<string, string>>;

const instanceOf = (key: string): string => key.slice(key.indexOf(":") + 1).replace(/\/[^/]*$/, "");

const identityOf = (track: Track): string => track.entity.labels.pod ?? track.entity.labels.url ?? instanceOf(track.entity.key);

const hostPort = (url: string): string => url.replace(/^[a-z+]+:\/\//, "").replace(/\/.*$/, "");

const sameNode = (a: string, b: string): boolean => a === "" || b === "" || a === b;

const byEntity = (tracks: readonly Track[]): Track[][] => {
  const groups = new Map<string, Track[]>();
  for (const t of tracks) {
    const key = `${t.entity.node}\u0000${t.entity.key}`;
    const list = groups.get(key);
    if (list === undefined) groups.set(key, [t]);
    else list.push(t);
  }
  return [...groups.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, list]) => list);
};

/** True when the labels of a request name the server. */
const names = (request: Labels, identity: string, tracks: readonly Track[]): boolean => {
  for (const key of ["pod", "instance", "url", "service"]) {
    const value = request[key];
    if (value === undefined) continue;
    if (value === identity || hostPort(value) === hostPort(identity)) return true;
    if (tracks.some((t) => t.entity.labels[key] === value || instanceOf(t.entity.key) === hostPort(value))) return true;
  }
  return false;
};

interface Found {
  readonly identity: string;
  readonly servers: Track[];
}

const serversOf = (tracks: readonly Track[]): Found[] => {
  const found = new Map<string, Track[]>();
  for (const t of tracks) {
    if (t.entity.kind !== "server") continue;
    const identity = identityOf(t);
    found.set(identity, [...(found.get(identity) ?? []), t]);
  }
  return [...found.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([identity, servers]) => ({ identity, servers }));
};

/** Which group each entry of `requests.servers` belongs to; -1 = none that can be told. The last entry is for requests without a server. */
const assign = (input: DiagnosisInput, found: readonly Found[]): Int32Array => {
  const servers = input.requests.servers;
  const out = new Int32Array(servers.length + 1).fill(found.length === 1 ? 0 : -1);
  for (let s = 0; s < servers.length; s++) {
    const matches = found.map((f, i) => ({ i, ok: names(servers[s]!, f.identity, f.servers) })).filter((m) => m.ok);
    if (matches.length === 1) out[s] = matches[0]!.i;
    else if (found.length > 1 && matches.length === 0) {
      const model = servers[s]!.model;
      const byModel = found.map((f, i) => ({ i, ok: f.servers.some((t) => t.entity.labels.model === model) })).filter((m) => m.ok);
      if (model !== undefined && byModel.length === 1) out[s] = byModel[0]!.i;
    }
  }
  return out;
};

const rowsByGroup = (input: DiagnosisInput, assigned: Int32Array, groups: number): { rows: Int32Array[]; rest: Int32Array } => {
  const lists: number[][] = Array.from({ length: groups }, () => []);
  const rest: number[] = [];
  for (let i = 0; i < input.requests.n; i++) {
    const s = input.requests.server[i]!;
    const g = assigned[s < 0 ? assigned.length - 1 : s]!;
    (g < 0 ? rest : lists[g]!).push(i);
  }
  return { rows: lists.map((l) => Int32Array.from(l)), rest: Int32Array.from(rest) };
};

const active = (gpu: readonly Track[]): boolean =>
  gpu.some((t) =>
    ["gr_engine_active_ratio", "sm_active_ratio", "gpu_util_ratio"].some((c) => t.columns[c]?.some((v) => v > 0.05) ?? false),
  );

const parallelSize = (manifest: Labels): number => {
  const text = manifest.tensor_parallel ?? manifest.tensor_parallel_size ?? manifest.tp;
  return text === undefined ? Number.NaN : Number(text);
};

const listed = (labels: string | undefined): string[] => (labels ? labels.split(",") : []);

/** Everything that a process or GPU may call the server by: pod, target name, URL. */
const namesOf = (found: Found | null): { pods: ReadonlySet<string>; servers: ReadonlySet<string> } => {
  const labels = (found?.servers ?? []).map((t) => t.entity.labels);
  return {
    pods: new Set(labels.flatMap((l) => l.pod ?? [])),
    servers: new Set([...(found ? [found.identity] : []), ...labels.flatMap((l) => [l.server ?? [], l.url ?? []].flat())]),
  };
};

const isNamed = (labels: Labels, names: ReturnType<typeof namesOf>): boolean =>
  listed(labels.pod).some((p) => names.pods.has(p)) || (labels.server !== undefined && names.servers.has(labels.server));

/** The parts of the telemetry that belong to one server; `only` = it is the only server of the run. */
const belongings = (input: DiagnosisInput, found: Found | null, only: boolean) => {
  const tracks = input.telemetry.tracks;
  const names = namesOf(found);
  const node = found?.servers.find((t) => t.entity.node !== "")?.entity.node ?? "";
  const ofKind = (kind: string) => tracks.filter((t) => t.entity.kind === kind && sameNode(t.entity.node, node));
  const owned = (list: Track[][], pids: ReadonlySet<string>): Track[][] => {
    const named = list.filter((e) =>
      e.some((t) => isNamed(t.entity.labels, names) || listed(t.entity.labels.pids).some((p) => pids.has(p))),
    );
    if (named.length > 0) return named;
    return only ? list : [];
  };
  const processes = owned(byEntity(ofKind("process")), new Set()).filter((p) => p.some((t) => t.entity.labels.role !== "other"));
  // A GPU whose processes are the server's is the server's, whatever it is called.
  const pids = new Set([...processes.flat(), ...(found?.servers ?? [])].flatMap((t) => t.entity.labels.pid ?? []));
  const mine = owned(byEntity(ofKind("gpu")), pids);
  const named = mine.some((g) => g.some((t) => isNamed(t.entity.labels, names) || listed(t.entity.labels.pids).some((p) => pids.has(p))));
  const gpus = named || mine.length <= 1 ? mine : mine.filter(active);
  const keys = new Set(gpus.flatMap((g) => g.map((t) => t.entity.key)));
  const links = byEntity(ofKind("link")).filter((l) => {
    const gpu = l[0]!.entity.labels.gpu;
    return gpu === undefined || keys.has(gpu);
  });
  const told = parallelSize(input.run.manifest);
  const groupQuality = gpus.length < 2 || told === 1 ? 0 : named || told === gpus.length ? 1 : only ? 0.6 : 0;
  return { gpus, processes, hosts: ofKind("host"), links, groupQuality };
};

/**
 * Divides a run by server. GPUs and processes belong to a server by pod or owner; else, with a single server, all of its node do.
 * Requests that name no server, while there are several, belong to the one whose gauges follow them; if none stands out they form a
 * group of their own without telemetry.
 */
export const serverGroups = (input: DiagnosisInput): ServerGroup[] => {
  const found = serversOf(input.telemetry.tracks);
  if (found.length === 0) {
    const rows = Int32Array.from({ length: input.requests.n }, (_, i) => i);
    const first = input.requests.servers[0];
    const name = input.requests.servers.length === 1 ? (first?.pod ?? first?.url ?? first?.service ?? null) : null;
    return [{ name, rows, servers: [], ...belongings(input, null, true), ambiguous: false }];
  }
  const { rows, rest: unnamed } = rowsByGroup(input, assign(input, found), found.length);
  const own =
    unnamed.length === 0
      ? -1
      : matchServer(
          input.requests,
          unnamed,
          found.map((f) => f.servers),
        );
  const rest = own < 0 ? unnamed : new Int32Array(0);
  if (own >= 0) rows[own] = Int32Array.from([...rows[own]!, ...unnamed]).sort();
  const groups: ServerGroup[] = found.map((f, i) => ({
    name: f.identity,
    rows: rows[i]!,
    servers: f.servers,
    ...belongings(input, f, found.length === 1),
    ambiguous: false,
  }));
  if (rest.length > 0)
    groups.push({ name: null, rows: rest, servers: [], gpus: [], processes: [], hosts: [], links: [], groupQuality: 0, ambiguous: true });
  return groups;
};
