const ENTITIES: ReadonlyMap<string, string> = new Map([
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
  ['"', "&#34;"],
  ["'", "&#39;"],
])

/** Escapes a value in a text, or in an attribute in quotes. */
export const html = (text: string): string =>
  SPECIAL.test(text) ? text.replaceAll(/[&<>"']/gu, (character) => ENTITIES.get(character) ?? "") : text

/** Most values have none, and are found out several times faster than they are replaced. */
const SPECIAL = /[&<>"']/u

/** Escapes HTML where it is no HTML: nothing in it becomes an element, and entities stay what they are. */
export const captured = (text: string): string =>
  text.replaceAll(/[<>"']/gu, (character) => ENTITIES.get(character) ?? "")

/** Schemes that a variable may choose. Any other could run a script, or hide what a link opens. */
const SCHEMES: ReadonlySet<string> = new Set(["cid", "http", "https", "mailto", "sms", "tel"])
const BLOCKED_URL = "about:blank#blocked"

const COLON = /&(?:colon;|#0*58(?!\d);?|#x0*3a(?![\da-f]);?)/giu
/** Also one that what follows would complete. */
const ENTITY = /&(?:#?\w*;|#?\w*$|#\w*)/gu

/** Returns HTML as a browser looks for a scheme in it: entities are a colon, or left out. */
export const withoutEntities = (text: string): string => text.replaceAll(COLON, ":").replaceAll(ENTITY, "")

const isAllowed = (scheme: string): boolean => SCHEMES.has(scheme.toLowerCase())

/** Whether an address has no scheme, or an allowed one. A browser leaves out control characters and spaces before it looks. */
const isHarmless = (text: string): boolean => {
  const scheme = /^([^/?#:]*):/u.exec(text.replaceAll(/[\0- ]/gu, ""))?.[1]
  return scheme === undefined || isAllowed(scheme)
}

/** Escapes a value at the beginning of an address. */
export const url = (text: string): string => html(isHarmless(text) ? text : BLOCKED_URL)
export const capturedUrl = (text: string): string =>
  captured(isHarmless(text) && isHarmless(withoutEntities(text)) ? text : BLOCKED_URL)

/** Escapes a value that is the scheme of an address. */
export const scheme = (text: string): string => (isAllowed(text) ? text : BLOCKED_URL)

/** Leaves nothing of a value in a style that could end it or name an address. */
export const style = (text: string): string =>
  text.replaceAll(/[^\w #%.,-]/gu, (character) => `\\${(character.codePointAt(0) ?? 0).toString(16)} `)

/** Leaves nothing of an escaped value by which a comment could end, whatever stands around it. */
export const inComment = (escaped: string): string => escaped.replaceAll("-", "&#45;")

/** Leaves nothing of a value by which a comment in a style could end; a style reads no entities everywhere. A hyphen at the beginning is a sign. */
export const styleInComment = (text: string): string => style(text).replace(/-$/u, "\\2d ")
