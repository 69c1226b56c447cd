/** Markup that is already safe. Only `html` and `trusted` make it, so that a plain string can never reach the page unescaped. */
export class Html {
  readonly #text: string;
  constructor(text: string) {
    this.#text = text;
  }
  toString(): string {
    return this.#text;
  }
}

export type HtmlValue = string | number | Html | null | undefined | false | readonly HtmlValue[];

/** Markup of our own that needs no escaping (icons, bundled script). */
export const trusted = (text: string): Html => new Html(text);

/** A template whose values are escaped unless they are `Html`; nothing stands for null, undefined and false. */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let text = strings[0]!;
  values.forEach((value, i) => {
    text += render(value) + strings[i + 1]!;
  });
  return new Html(text);
}

function render(value: HtmlValue): string {
  if (value === null || value === undefined || value === false) return "";
  if (value instanceof Html) return value.toString();
  if (typeof value === "string" || typeof value === "number") return escapeHtml(String(value));
  return value.map(render).join("");
}

const ENTITY: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/**
 * Text for element content and quoted attributes. Control characters, lone surrogates and marks that reorder text (a name could
 * fake what is shown) become U+FFFD.
 */
export const escapeHtml = (text: string): string => visible(text).replace(/[&<>"']/g, (c) => ENTITY[c]!);

const UNSEEN = /[\p{Cc}\p{Cs}\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu;

/** The same text with everything replaced that a reader cannot see; tabs and line ends become blanks. */
export const visible = (text: string): string => text.replace(/[\t\r\n]+/g, " ").replace(UNSEEN, "\ufffd");
