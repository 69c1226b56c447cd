import type { Episode, Spike } from "../../../schemas/report.js";
import { parseIso } from "../../time/iso-time.js";
import type { LivePass } from "./live-pass.js";

export interface LiveEpisode {
  readonly episode: Episode;
  readonly spikes: readonly Spike[];
}

export interface LedgerStep {
  /** Final since this pass, in order of start; each is told once. */
  readonly final: readonly LiveEpisode[];
  /** Provisional ones that the pass before did not know. */
  readonly fresh: readonly LiveEpisode[];
}

interface Known {
  readonly from_us: number;
  readonly to_us: number;
  readonly server: string | null;
  readonly keys: ReadonlySet<string>;
}

/** Spans are exported in batches: the last of a request may come this much after its end, µs. */
const EXPORT_DELAY_US = 5e6;

const keyOf = (s: Spike): string => `${s.request_id}\u0000${s.metric}`;

const knownOf = ({ episode, spikes }: LiveEpisode): Known => ({
  from_us: parseIso(episode.start) ?? 0,
  to_us: parseIso(episode.end) ?? 0,
  server: episode.server ?? null,
  keys: new Set(spikes.map(keyOf)),
});

/** The same incident, seen in two passes: a slow request in common; without slow requests, the same server at the same time. */
const isSame = (a: Known, b: Known): boolean => {
  if (a.keys.size > 0 || b.keys.size > 0) {
    for (const key of a.keys) if (b.keys.has(key)) return true;
    return false;
  }
  return a.server === b.server && a.from_us <= b.to_us && b.from_us <= a.to_us;
};

/**
 * Turns the episodes of successive passes into provisional and final ones. An episode is final once nothing can be added to it: its
 * telemetry is in, and a request as long as the longest of late would have ended. It is final once: what a later pass says of the same
 * slow requests, or of a time that was closed before, changes nothing. Pure: time comes with the passes.
 */
export class LiveLedger {
  private closedUntil_us = Number.NEGATIVE_INFINITY;
  private finals: Known[] = [];
  private open: LiveEpisode[] = [];
  private nextFinal_us = Number.POSITIVE_INFINITY;

  /** `stored`: what was final before a restart, as far back as a pass looks. */
  constructor(stored: readonly LiveEpisode[] = []) {
    this.finals = stored.map(knownOf);
  }

  /** Not final yet, in order of start. */
  get provisional(): readonly LiveEpisode[] {
    return this.open;
  }

  /** When the first provisional episode can become final, µs; infinite when there is none. */
  get dueAt_us(): number {
    return this.nextFinal_us;
  }

  take(pass: LivePass): LedgerStep {
    this.finals = this.finals.filter((f) => f.to_us >= pass.from_us);
    const before = this.open.map(knownOf);
    const final: LiveEpisode[] = [];
    const open: LiveEpisode[] = [];
    const fresh: LiveEpisode[] = [];
    const wait_us = Math.max(pass.settle_ms * 1000, pass.longest_ms * 1000 + EXPORT_DELAY_US);
    this.nextFinal_us = Number.POSITIVE_INFINITY;
    for (const one of withSpikes(pass)) {
      const known = knownOf(one);
      if (this.finals.some((f) => isSame(f, known))) continue;
      const wasOpen = before.some((b) => isSame(b, known));
      if (known.to_us <= this.closedUntil_us && !wasOpen) continue;
      // A server that hangs holds its requests: they end only after it, each as late as the hang is long.
      const ownWait_us = known.keys.size > 0 ? wait_us : wait_us + (known.to_us - known.from_us);
      const joinable = pass.oldest_open_us !== null && pass.oldest_open_us <= known.to_us;
      if (!joinable && known.to_us + ownWait_us <= pass.to_us) {
        final.push(one);
        this.finals.push(known);
        continue;
      }
      open.push(one);
      if (!wasOpen) fresh.push(one);
      this.nextFinal_us = Math.min(this.nextFinal_us, Math.max(known.to_us + ownWait_us, pass.to_us + 1));
    }
    this.open = open;
    this.closedUntil_us = Math.max(this.closedUntil_us, pass.to_us - wait_us);
    return { final, fresh };
  }
}

function withSpikes(pass: LivePass): LiveEpisode[] {
  const byEpisode = new Map<string, Spike[]>();
  for (const spike of pass.spikes) {
    if (spike.episode === null) continue;
    const list = byEpisode.get(spike.episode);
    if (list) list.push(spike);
    else byEpisode.set(spike.episode, [spike]);
  }
  return pass.episodes.map((episode) => ({ episode, spikes: byEpisode.get(episode.id) ?? [] }));
}
