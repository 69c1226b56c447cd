import { classIcon } from "../html/class-mark.js";
import { type Html, html } from "../html/html-text.js";
import type { PageData, TableRow } from "../html/page-data.js";
import { count, milliseconds, percent, plural } from "../number-text.js";
import { CLASS_TEXT, METRIC_TEXT } from "../wording.js";
import { type RowOrder, selectRows } from "./request-filter.js";
import { secondsText } from "./time-axis.js";
import type { Timeline } from "./timeline.js";

const PAGE = 50;

interface TableEvents {
  episode(number: number): void;
  /** Seconds: the arrival of a request that is to be seen in the timeline. */
  time(seconds: number): void;
}

/** The table of slow requests: sorted by any column, searched, a page at a time. */
export class RequestTable {
  readonly #data: PageData;
  readonly #timeline: Timeline;
  readonly #events: TableEvents;
  #order: RowOrder = { key: "excess", descending: true };
  #page = 0;
  #rows: TableRow[] = [];

  constructor(data: PageData, timeline: Timeline, events: TableEvents) {
    this.#data = data;
    this.#timeline = timeline;
    this.#events = events;
    if (data.table.rows.length === 0) return;
    for (const id of ["request-tools", "request-pages"]) element(id).hidden = false;
    this.#makeHeads();
    element("request-tools").addEventListener("submit", (e) => e.preventDefault());
    for (const id of ["request-search", "request-class", "request-in-view"])
      element(id).addEventListener("input", () => {
        this.#page = 0;
        this.#update();
      });
    element("page-before").addEventListener("click", () => this.#turn(-1));
    element("page-next").addEventListener("click", () => this.#turn(1));
    this.#body().addEventListener("click", (e) => this.#clicked(e));
    this.#update();
  }

  /** The timeline shows another stretch. */
  viewChanged(): void {
    if (element<HTMLInputElement>("request-in-view").checked) this.#update();
  }

  #body(): HTMLElement {
    return document.querySelector<HTMLElement>("#request-table tbody")!;
  }

  #makeHeads(): void {
    for (const head of document.querySelectorAll<HTMLElement>("#request-table th[data-key]")) {
      const key = head.dataset.key!;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      button.addEventListener("click", () => {
        const first = ["request", "at", "metric", "class", "episode"].includes(key);
        this.#order = { key, descending: this.#order.key === key ? !this.#order.descending : !first };
        this.#page = 0;
        this.#update();
      });
      head.append(button);
    }
  }

  #turn(by: number): void {
    this.#page += by;
    this.#update();
  }

  #update(): void {
    const { table } = this.#data;
    const { axis, from, to } = this.#timeline;
    const ticks = this.#data.span / (axis.to - axis.from);
    this.#rows = selectRows(
      table,
      {
        text: element<HTMLInputElement>("request-search").value,
        class: element<HTMLSelectElement>("request-class").value,
        view: element<HTMLInputElement>("request-in-view").checked
          ? { from: (from - axis.from) * ticks, to: (to - axis.from) * ticks }
          : null,
      },
      this.#order,
    );
    const pages = Math.max(1, Math.ceil(this.#rows.length / PAGE));
    this.#page = Math.min(Math.max(0, this.#page), pages - 1);
    const shown = this.#rows.slice(this.#page * PAGE, (this.#page + 1) * PAGE);
    this.#body().innerHTML = shown.map((row) => this.#row(row)).join("");
    element("request-count").textContent = this.#counted();
    element("page-says").textContent = `Page ${this.#page + 1} of ${pages}`;
    element<HTMLButtonElement>("page-before").disabled = this.#page === 0;
    element<HTMLButtonElement>("page-next").disabled = this.#page === pages - 1;
    for (const head of document.querySelectorAll<HTMLElement>("#request-table th[data-key]")) {
      if (head.dataset.key === this.#order.key) head.setAttribute("aria-sort", this.#order.descending ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
  }

  #counted(): string {
    const { rows, spikes_total, spikes_shown, slowest } = this.#data.table;
    const spikes =
      spikes_shown < spikes_total
        ? `the ${count(spikes_shown)} largest of ${count(spikes_total)} spikes (all are in the JSON report)`
        : plural(spikes_total, "spike");
    const all = `${spikes}${slowest > 0 ? ` and ${plural(slowest, "further slow request")}` : ""}`;
    return this.#rows.length === rows.length
      ? `${all}.`
      : `${plural(this.#rows.length, "row")} of ${count(rows.length)} match: ${all} in all.`;
  }

  #row([index, s]: TableRow): Html {
    const [id, at, ttft, gap, e2e, , input, output] = this.#data.table.requests[index]!;
    const time = this.#timeline.axis.seconds(at);
    const number = (v: number | null): Html => html`<td class="num">${v === null ? "-" : count(v)}</td>`;
    const ms = (v: number | null | undefined): Html => html`<td class="num">${milliseconds(v ?? null)}</td>`;
    return html`<tr><th scope="row" title="${id}">${id}</th><td><button type="button" class="link" data-time="${time}" title="Show in the timeline">${secondsText(time)}</button></td><td>${s && html`${METRIC_TEXT[s.metric]}${s.censored && html` <span class="dim" title="not finished: a lower bound">open</span>`}`}</td>${ms(s?.observed_ms)}${ms(s?.expected_ms)}${ms(s?.excess_ms)}<td>${s ? html`${classIcon(s.class)}${CLASS_TEXT[s.class]}${s.cause && html` / ${s.cause}`}${s.confidence !== null && html` <span class="dim">${percent(s.confidence)}</span>`}` : html`<span class="dim">no spike</span>`}</td>${ms(ttft)}${ms(gap)}${ms(e2e)}${number(input)}${number(output)}<td class="num">${s && s.episode > 0 ? html`<button type="button" class="link" data-episode="${s.episode}">${s.episode}</button>` : "-"}</td></tr>`;
  }

  #clicked(e: Event): void {
    const button = (e.target as HTMLElement).closest<HTMLElement>("button.link");
    if (button?.dataset.episode) this.#events.episode(Number(button.dataset.episode));
    else if (button?.dataset.time) this.#events.time(Number(button.dataset.time));
  }
}

const element = <T extends HTMLElement = HTMLElement>(id: string): T => document.getElementById(id) as T;
