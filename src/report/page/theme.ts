import { forgetColours } from "./palette.js";

const THEMES = ["system", "light", "dark"] as const;

/** The button that overrides the system's theme, and paper, which is light. `changed` repaints what knows no style sheet. */
export function watchTheme(changed: () => void): void {
  const root = document.documentElement;
  const button = document.getElementById("theme") as HTMLButtonElement;
  let at = 0;
  const apply = (theme: (typeof THEMES)[number]): void => {
    if (theme === "system") delete root.dataset.theme;
    else root.dataset.theme = theme;
    forgetColours();
    changed();
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    at = (at + 1) % THEMES.length;
    button.textContent = `Theme: ${THEMES[at]}`;
    apply(THEMES[at]!);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => apply(THEMES[at]!));
  addEventListener("beforeprint", () => apply("light"));
  addEventListener("afterprint", () => apply(THEMES[at]!));
}
