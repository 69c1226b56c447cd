import type { Timeline } from "./timeline.js";

/** The timeline by keyboard, while it has the focus. `step` goes to the next (1) or previous (-1) episode. */
export function watchKeys(box: HTMLElement, timeline: Timeline, step: (by: 1 | -1) => void): void {
  const says = document.getElementById("cursor-says")!;
  let cursor = 0.5;
  const moveCursor = (by: number): void => {
    cursor = Math.min(1, Math.max(0, cursor + by));
    says.textContent = timeline.cursorTo(cursor);
  };
  const actions: Readonly<Record<string, () => void>> = {
    ArrowLeft: () => moveCursor(-0.01),
    ArrowRight: () => moveCursor(0.01),
    "Shift+ArrowLeft": () => timeline.pan(-0.25),
    "Shift+ArrowRight": () => timeline.pan(0.25),
    "+": () => timeline.zoom(0.5),
    "=": () => timeline.zoom(0.5),
    "-": () => timeline.zoom(2),
    "0": () => timeline.showAll(),
    n: () => step(1),
    p: () => step(-1),
  };
  box.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const action = actions[e.shiftKey && e.key.startsWith("Arrow") ? `Shift+${e.key}` : e.key];
    if (!action) return;
    e.preventDefault();
    action();
  });
  const buttons: readonly [string, () => void][] = [
    ["zoom-in", () => timeline.zoom(0.5)],
    ["zoom-out", () => timeline.zoom(2)],
    ["pan-left", () => timeline.pan(-0.5)],
    ["pan-right", () => timeline.pan(0.5)],
    ["zoom-reset", () => timeline.showAll()],
  ];
  for (const [id, act] of buttons) document.getElementById(id)!.addEventListener("click", act);
}
