import { nearestName } from "@waybill/domain/values/nearestName"
import * as Table from "@waybill/domain/values/Table"
import * as Library from "liquidjs"
import * as Engine from "./Engine.ts"
import * as Limits from "./Limits.ts"

/** Returns the place that an error of the library names; the begin of the source without one. */
export const placeOf = (error: unknown): { readonly line: number; readonly column: number } => {
  const token = error instanceof Library.LiquidError ? error.token : undefined
  const [line = 1, column = 1] = token === undefined ? [] : token.getPosition()
  return { line, column }
}

/** The library's words for a rendering whose time is over. */
export const LATE = "template render limit exceeded"

export const isLate = (error: unknown): boolean => error instanceof Error && error.message.includes(LATE)

/** Blocks of Handlebars and Mustache, and how Liquid writes them. */
const BLOCKS: Readonly<Record<string, string>> = {
  "#if": "{% if … %}",
  "#unless": "{% unless … %}",
  "#each": "{% for item in … %}",
  "/if": "{% endif %}",
  "/unless": "{% endunless %}",
  "/each": "{% endfor %}",
}

/** Words of the library, and ours for them. */
const WORDS: ReadonlyArray<readonly [pattern: RegExp, explain: (found: RegExpExecArray) => string]> = [
  [
    /undefined filter: ([\w-]+)/u,
    ([, name = ""]) => {
      const nearest = nearestName(name, Engine.FILTER_NAMES)
      return `there is no filter ${name}${nearest === undefined ? "" : `; did you mean ${nearest}?`}`
    },
  ],
  [
    /tag "([^"]{0,64})" not found/u,
    ([, name = ""]) => {
      const nearest = nearestName(name, Engine.TAG_NAMES)
      return `there is no tag ${name}${nearest === undefined ? "" : `; did you mean ${nearest}?`}`
    },
  ],
  [/ENOENT.*?"([^"]{0,64})"/u, ([, name = ""]) => `there is no partial or layout ${name}`],
  [new RegExp(LATE, "u"), () => `takes longer than ${Limits.RENDER_MS} ms to render`],
  [/memory alloc limit exceeded/u, () => `makes more than ${Limits.MAX_MADE} characters and items`],
  [
    /invalid value expression: "\{/u,
    () => "is {{{ … }}} of another language; write {{ … | raw }} for HTML that is not to be escaped",
  ],
  [
    /invalid value expression: "([#/^][a-z]{0,20})/u,
    ([, word = ""]) =>
      `{{${word} … }} is a block of another language; write ${Table.at(BLOCKS, word) ?? "{% if … %} or {% for … %}"}`,
  ],
  [/^output "[^]*not closed/u, () => "{{ has no }} behind it"],
  [/^tag "[^]*not closed/u, ([found]) => (found.startsWith('tag "{%') ? "{% has no %} behind it" : found)],
  [
    /expected "\|" before filter/u,
    () => "has more than one value; filters begin with |, conditions are joined by and, or",
  ],
  [/parse length limit exceeded/u, () => `is longer than ${Limits.MAX_SOURCE_CHARS} characters`],
  [/Maximum call stack|Invalid string length/u, () => "is nested too deep"],
]
const MAX_MESSAGE_CHARS = 300

/** Returns what an error of the library means for the author of a template. */
export const explain = (error: unknown): string => {
  const message = error instanceof Error ? error.message : String(error)
  for (const [pattern, words] of WORDS) {
    const found = pattern.exec(message)
    if (found !== null) return words(found)
  }
  // The library appends the place, which stands beside the message.
  return message.replace(/, (?:file:.*?, )?line:\d+, col:\d+$/u, "").slice(0, MAX_MESSAGE_CHARS)
}
