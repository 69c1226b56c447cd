import { classIcon } from "../html/class-mark.js";
import { html } from "../html/html-text.js";
import type { PageData } from "../html/page-data.js";
import { CLASS_TEXT } from "../wording.js";
import { secondsText } from "./time-axis.js";
import type { Timeline } from "./timeline.js";

/** Width under which a button would be hard to hit. */
const LEAST_WIDTH = 26;

/** Episodes and marks as buttons above the lanes, at their place on the time axis. */
export class Strip {
  readonly #episodes: { number: number; from: number; to: number; button: HTMLButtonElement }[];
  readonly #flags: { at: number; flag: HTMLElement }[];
  readonly #timeline: Timeline;
  readonly #now: HTMLElement;

  constructor(box: HTMLElement, data: PageData, timeline: Timeline, select: (number: number) => void) {
    this.#timeline = timeline;
    this.#episodes = data.episodes.map((e) => {
      const from = timeline.axis.seconds(e.from);
      const button = document.createElement("button");
      button.type = "button";
      button.className = `span c-${e.class}`;
      button.innerHTML = html`${classIcon(e.class)}${e.number}`.toString();
      button.title = `Episode ${e.number}, ${secondsText(from)}: ${e.label}`;
      button.setAttribute("aria-label", `Episode ${e.number}, ${CLASS_TEXT[e.class]}, at ${secondsText(from)}`);
      button.setAttribute("aria-pressed", "false");
      button.addEventListener("click", () => select(e.number));
      box.append(button);
      return { number: e.number, from, to: timeline.axis.seconds(e.to), button };
    });
    this.#flags = data.marks.map((m) => {
      const at = timeline.axis.seconds(m.at);
      const flag = document.createElement("span");
      flag.className = "flag";
      flag.textContent = "\u2691";
      flag.title = `${secondsText(at)} ${m.kind}: ${m.text}${m.node ? ` (${m.node})` : ""}`;
      flag.setAttribute("role", "img");
      flag.setAttribute("aria-label", `Mark at ${secondsText(at)}, ${m.kind}: ${m.text}`);
      box.append(flag);
      return { at, flag };
    });
    this.#now = document.createElement("span");
    this.#now.className = "now";
    this.#now.hidden = true;
    this.#now.setAttribute("aria-hidden", "true");
    box.append(this.#now);
  }

  /** Writes the time at the cursor; null = no cursor. */
  cursor(time: number | null): void {
    this.#now.hidden = time === null;
    if (time === null) return;
    this.#now.textContent = secondsText(time);
    this.#now.style.left = `${this.#timeline.place(time)}px`;
  }

  /** Puts every button where its episode is in the view; those beside it are hidden. Where two would overlap, they stand on two levels. */
  place(): void {
    const { from, to } = this.#timeline;
    const ends = [0, 0, 0];
    for (const e of this.#episodes) {
      e.button.hidden = e.to < from || e.from > to;
      if (e.button.hidden) continue;
      const start = this.#timeline.place(Math.max(e.from, from));
      const end = this.#timeline.place(Math.min(e.to, to));
      const width = Math.max(LEAST_WIDTH, end - start);
      // A button that is wider than its episode stands over the middle of it.
      const left = (start + end - width) / 2;
      const level = Math.max(
        0,
        ends.findIndex((end) => end <= left + 1),
      );
      ends[level] = left + width;
      e.button.style.left = `${left}px`;
      e.button.style.width = `${width}px`;
      e.button.style.top = `${2 + level * 22}px`;
    }
    for (const { at, flag } of this.#flags) {
      flag.hidden = at < from || at > to;
      flag.style.left = `${this.#timeline.place(at)}px`;
    }
    const levels = ends.filter((end) => end > 0).length;
    this.#now.parentElement!.style.height = `${22 * levels + 20}px`;
  }

  press(number: number): void {
    for (const e of this.#episodes) e.button.setAttribute("aria-pressed", String(e.number === number));
  }
}
