import type * as Markup from "./Markup.ts"

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
  ['"', "&#34;"],
  ["'", "&#39;"],
])

export const html = (text: string): string => text.replaceAll(/[&<>"']/gu, (character) => ENTITIES.get(character) ?? "")

/** Schemes that a variable may choose. Any other could run a script, or hide what a link opens. */
const SCHEMES: ReadonlySet<string> = new Set(["cid", "http", "https", "mailto", "sms", "tel"])
export const BLOCKED_URL = "about:blank#blocked"

/** A browser leaves out control characters and spaces before it looks for the scheme. */
const url = (text: string): string => {
  const scheme = /^([^/?#:]*):/u.exec(text.replaceAll(/[\0- ]/gu, ""))?.[1]
  return html(scheme === undefined || SCHEMES.has(scheme.toLowerCase()) ? text : BLOCKED_URL)
}

/** Leaves nothing of a value in a style that could end it or name an address. */
const style = (text: string): string =>
  text.replaceAll(/[^\w #%.,-]/gu, (character) => `\\${(character.codePointAt(0) ?? 0).toString(16)} `)

/** Escapes a value for the place in the HTML where it stands. */
export const at = (place: Markup.Place, text: string): string => {
  switch (place) {
    case "attribute":
    case "text":
      return html(text)
    case "style":
      return style(text)
    case "url":
      return url(text)
  }
}
