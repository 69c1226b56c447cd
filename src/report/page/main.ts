import "uplot/dist/uPlot.min.css";
import "./style/colours.css";
import "./style/base.css";
import "./style/verdict.css";
import "./style/timeline.css";
import "./style/tables.css";
import "./style/episode.css";
import "./style/small-and-paper.css";
import type { PageData } from "../html/page-data.js";
import type { Unpacked } from "../html/payload-codec.js";
import { DotTip, knownDots } from "./dot-tip.js";
import { EpisodePanel } from "./episode-panel.js";
import { watchKeys } from "./keys.js";
import { readPayload } from "./read-payload.js";
import { RequestTable } from "./request-table.js";
import { Strip } from "./strip.js";
import { watchTheme } from "./theme.js";
import { Timeline } from "./timeline.js";

/** Brings the written page to life: lanes, episodes, table, theme. What goes wrong is said on the page. */
function start(page: Unpacked<PageData>): void {
  const { data } = page;
  const lanes = document.getElementById("lanes")!;
  lanes.hidden = false;
  const known = knownDots(data);
  const numbers = data.episodes.map((e) => e.number);

  let ready = false;
  const viewed = (): void => {
    if (!ready) return;
    strip.place();
    table.viewChanged();
  };
  const select = (number: number, reveal: boolean): void => {
    if (!numbers.includes(number)) return;
    panel.show(number);
    strip.press(number);
    timeline.overlay.selected = number;
    timeline.repaint();
    if (reveal) {
      panel.reveal();
      remember(number);
    }
  };
  const zoomTo = (number: number): void => {
    const e = data.episodes.find((x) => x.number === number)!;
    const [from, to] = [timeline.axis.seconds(e.from), timeline.axis.seconds(e.to)];
    const margin = Math.max((to - from) * 0.6, 1);
    timeline.show(from - margin, to + margin);
    document.getElementById("timeline")!.scrollIntoView({ block: "start" });
  };

  const timeline = new Timeline(document.getElementById("charts")!, page, {
    viewed,
    episode: (number) => select(number, true),
    dotHovered: (dot, _, x, y) => tip.show(dot, x, y),
    cursor: (time) => ready && strip.cursor(time),
    dotChosen: (dot) => select(known.get(dot)?.spike?.episode ?? 0, true),
  });
  const tip = new DotTip(page, timeline.axis, known);
  const strip = new Strip(document.getElementById("strip")!, data, timeline, (number) => select(number, true));
  const panel = new EpisodePanel(data, (number) => select(number, true), zoomTo);
  const table = new RequestTable(data, timeline, {
    episode: (number) => select(number, true),
    time: (seconds) => {
      const half = Math.max(5, (timeline.axis.to - timeline.axis.from) / 40);
      timeline.overlay.pointer = seconds;
      timeline.show(seconds - half, seconds + half);
      document.getElementById("timeline")!.scrollIntoView({ block: "start" });
    },
  });
  watchKeys(lanes, timeline, (by) => {
    const at = numbers.indexOf(panel.selected);
    const number = numbers[at < 0 ? 0 : (at + by + numbers.length) % numbers.length];
    if (number !== undefined) select(number, false);
  });
  watchTheme(() => timeline.repaint());
  ready = true;
  strip.place();
  document.getElementById("band-note")!.hidden = !timeline.hasBands;
  if (timeline.isEmpty) {
    lanes.hidden = true;
    fail("Nothing to draw: the range holds no requests with times and no telemetry.");
  }
  const asked = Number(/^#episode-(\d+)$/.exec(location.hash)?.[1] ?? 0);
  const largest = [...data.episodes].sort((a, b) => b.excess_ms - a.excess_ms)[0]?.number ?? 0;
  select(numbers.includes(asked) ? asked : largest, numbers.includes(asked));
  document.documentElement.dataset.ready = "true";
}

/** A link to the episode, for whoever the address is sent to. */
function remember(number: number): void {
  try {
    history.replaceState(null, "", `#episode-${number}`);
  } catch {
    // Some viewers of attachments forbid it; the page works without.
  }
}

function fail(text: string): void {
  const box = document.getElementById("page-error")!;
  box.textContent = text;
  box.hidden = false;
}

readPayload().then(start, () =>
  fail("The charts need a newer browser (one that knows DecompressionStream). The rest of the page is complete."),
);
