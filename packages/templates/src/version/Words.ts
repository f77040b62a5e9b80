import type { TemplateSource, Words } from "@waybill/domain/template/TemplateState"

/** Returns the languages that are looked for, the nearest first: `pt-BR`, then `pt`. */
export const chainOf = (locale: string): ReadonlyArray<string> => {
  const parts = locale.split("-")
  return parts.map((_, nth) => parts.slice(0, parts.length - nth).join("-"))
}

export interface Chosen extends Words {
  /** The nearest language of the template that was found; `null` is the template's own. */
  readonly locale: string | null
}

/** Returns the words of a template in a language: what one leaves out is taken from the next wider one. */
export const choose = (
  { html, locales, preheader, subject, text }: TemplateSource,
  locale: string | undefined,
): Chosen => {
  const byTag = new Map(Object.entries(locales).map(([tag, words]) => [tag.toLowerCase(), { tag, words }]))
  const found = locale === undefined ? [] : chainOf(locale.toLowerCase()).flatMap((tag) => byTag.get(tag) ?? [])
  const own: Words = { subject, html, text, preheader }
  const first = <K extends keyof Words>(name: K): string | null =>
    found.find(({ words }) => words[name] !== null)?.words[name] ?? own[name]
  // A language with its own HTML and no text gets the text that is derived from its HTML, not that of another language.
  const ownText = found.find(({ words }) => words.text !== null || words.html !== null)
  return {
    locale: found[0]?.tag ?? null,
    subject: first("subject"),
    html: first("html"),
    text: ownText === undefined ? text : ownText.words.text,
    preheader: first("preheader"),
  }
}
