import { afterEach, describe, expect, it } from "vitest";
import type { Episode } from "../../schemas/report.js";
import type { Fault } from "../../src/sim/scenario.js";
import { openStore } from "../../src/store/open-store.js";
import { parseIso } from "../../src/time/iso-time.js";
import { endAgents, tempDir } from "./agent-bench.js";
import { replay, runWith } from "./live-replay.js";

afterEach(endAgents);

const fault = (kind: Fault["kind"], from_s: number, to_s: number, magnitude: number, extra: Partial<Fault> = {}): Fault => ({
  kind,
  start_us: from_s * 1e6,
  end_us: to_s * 1e6,
  magnitude,
  ...extra,
});

const told = (e: Episode): string => `${e.class} ${e.cause} ${e.basis}`;
const at_s = (e: Episode, of: "start" | "end"): number => parseIso(e[of])! / 1e6;

describe("live judging in fast time", () => {
  it("ends with the same episodes, classes and slow requests as the post-mortem, each once", () => {
    const faults = [fault("long_prompts", 40, 50, 14_000, { rate_per_s: 1.6 }), fault("cpu_tokenize", 100, 110, 150)];
    const folder = tempDir();
    const { final, report } = replay(runWith(faults, 160), folder, 10);
    expect(new Set(report.episodes.map((e) => e.class))).toContain("compute");
    expect(new Set(report.episodes.map((e) => e.class))).toContain("cpu_tokenization");
    expect(final.map((f) => told(f.episode))).toEqual(report.episodes.map(told));
    for (const [i, e] of report.episodes.entries()) {
      const live = final[i]!.episode;
      expect(Math.abs(at_s(live, "start") - at_s(e, "start"))).toBeLessThan(2);
      expect(Math.abs(at_s(live, "end") - at_s(e, "end"))).toBeLessThan(2);
      const slow = new Set(report.spikes.filter((s) => s.episode === e.id).map((s) => s.request_id));
      const seen = new Set(final[i]!.spikes.map((s) => s.request_id));
      const common = [...slow].filter((id) => seen.has(id)).length;
      expect(common / Math.max(slow.size, seen.size)).toBeGreaterThan(0.85);
    }
    const store = openStore(`${folder}/live.db`, { mode: "read" });
    expect(store.verdicts.episodes(0, 9e15, 100)).toEqual(final.map((f) => f.episode));
    const total = store.verdicts.totals().spikes.reduce((sum, t) => sum + t.spikes, 0);
    expect(total).toBe(final.reduce((sum, f) => sum + f.spikes.length, 0));
    store.close();
  });

  it("doubles nothing when the agent starts anew in the middle", () => {
    const faults = [fault("long_prompts", 40, 50, 14_000, { rate_per_s: 1.6 })];
    const through = replay(runWith(faults, 100), tempDir(), 10);
    const folder = tempDir();
    const broken = replay(runWith(faults, 100), folder, 10, 120);
    expect(broken.final.map((f) => f.episode.id)).toEqual(through.final.map((f) => f.episode.id));
    const store = openStore(`${folder}/live.db`, { mode: "read" });
    expect(store.verdicts.totals().episodes.map((t) => t.episodes)).toEqual([1]);
    store.close();
  });

  it("tells of a server that hangs within 10 s of the limit, with no span ever arriving, and goes on telling of the one", () => {
    const start = 40;
    const { fresh, report } = replay(
      runWith([fault("pause", start, start + 400, 1)], 90, { rate_per_s: 8, output_median: 200 }),
      tempDir(),
      5,
    );
    const hang = fresh.filter((f) => f.one.episode.basis === "telemetry");
    expect(hang).toHaveLength(1);
    const first = parseIso(report.run.start!)! / 1e6;
    expect(hang[0]!.at_us / 1e6 - first).toBeLessThanOrEqual(start + 5 + 10);
  });
});
