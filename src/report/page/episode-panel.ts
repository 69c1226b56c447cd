import { episodeArticle } from "../html/episode-article.js";
import type { PageData } from "../html/page-data.js";

/** Shows the article of one episode at a time; on paper all of them stand. */
export class EpisodePanel {
  readonly #box: HTMLElement | null;
  readonly #rows: ReadonlyMap<number, HTMLElement>;
  readonly #further: ReadonlyMap<number, PageData["further"][number]["episode"]>;
  readonly #zoom: (number: number) => void;
  selected = 0;

  constructor(data: PageData, select: (number: number) => void, zoom: (number: number) => void) {
    this.#zoom = zoom;
    this.#box = document.getElementById("episode-articles");
    this.#further = new Map(data.further.map((f) => [f.number, f.episode]));
    const rows = [...document.querySelectorAll<HTMLElement>("#episode-list tbody tr")];
    this.#rows = new Map(rows.map((row) => [Number(row.dataset.number), row]));
    for (const [number, row] of this.#rows) {
      row.addEventListener("click", (e) => {
        if (getSelection()?.toString()) return;
        e.preventDefault();
        select(number);
      });
    }
    for (const article of this.#box?.querySelectorAll<HTMLElement>("article") ?? []) this.#addZoom(article);
    const hint = document.getElementById("episode-hint");
    if (hint) hint.hidden = rows.length < 2;
  }

  /** Shows an episode's article, made when the page has none; the others hide. */
  show(number: number): void {
    this.selected = number;
    let article = document.getElementById(`episode-${number}`);
    const episode = this.#further.get(number);
    if (!article && episode && this.#box) {
      const frame = document.createElement("div");
      frame.innerHTML = episodeArticle(episode, number).toString();
      article = frame.firstElementChild as HTMLElement;
      article.classList.add("no-print");
      this.#box.append(article);
      this.#addZoom(article);
    }
    for (const other of this.#box?.querySelectorAll<HTMLElement>("article") ?? []) other.hidden = other !== article;
    for (const [n, row] of this.#rows) {
      if (n === number) row.setAttribute("aria-current", "true");
      else row.removeAttribute("aria-current");
    }
  }

  /** Brings the article before the eye and the keyboard. */
  reveal(): void {
    const title = document.getElementById(`episode-${this.selected}-title`);
    title?.focus({ preventScroll: true });
    title?.closest("article")?.scrollIntoView({ block: "nearest", behavior: "auto" });
    const top = title?.getBoundingClientRect().top ?? 0;
    if (top < 0 || top > innerHeight * 0.6) title?.closest("article")?.scrollIntoView({ block: "start", behavior: "auto" });
  }

  #addZoom(article: HTMLElement): void {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "quiet zoom no-print";
    button.textContent = "Show in timeline";
    button.addEventListener("click", () => this.#zoom(Number(article.dataset.number)));
    article.querySelector("h3")!.after(button);
  }
}
