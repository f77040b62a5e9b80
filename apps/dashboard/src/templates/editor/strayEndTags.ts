import * as Form from "../content/Form.ts"
import type * as Problems from "../content/Problems.ts"

/** Comments, and texts that are no HTML. What has no end goes on to the end of the text, so that this is read once. */
const NO_TAGS =
  /<!--[^]*?(?:-->|$)|<(style|script|title|textarea)\b[^]*?(?:<\/\1\s*>|$)|\{%[^]*?(?:%\}|$)|\{\{[^]*?(?:\}\}|$)/giu
const TAG = /<(\/?)([a-z][\w-]*)/giu
/** In branches, several end tags may stand for one begin. */
const BRANCHES = /\{%-?\s*(?:else|elsif|when)\b|\{\{\s*else\b/u
/** Most warnings of a text: the place of each is counted from the beginning. */
const MAX_WARNINGS = 20

/** Warns of end tags of elements that nothing has begun. */
const strayIn = (path: string, html: string): ReadonlyArray<Problems.TextProblem> => {
  if (BRANCHES.test(html)) return []
  const open = new Map<string, number>()
  // Parts that are left out keep their length and their lines.
  const tags = html.replaceAll(NO_TAGS, (text) => text.replaceAll(/[^\n]/gu, " "))
  const ends = Array.from(tags.matchAll(TAG)).filter(({ 1: slash, 2: written = "" }) => {
    const name = written.toLowerCase()
    const count = (open.get(name) ?? 0) + (slash === "" ? 1 : -1)
    open.set(name, Math.max(0, count))
    return count < 0
  })
  return ends.slice(0, MAX_WARNINGS).map(({ 2: written = "", index }) => {
    const lines = html.slice(0, index).split("\n")
    const column = (lines.at(-1)?.length ?? 0) + 1
    return { path, message: `The end tag </${written.toLowerCase()}> has no begin`, line: lines.length, column }
  })
}

/** Returns the warnings of the HTML of all languages. */
export const strayEndTags = (form: Form.Form): ReadonlyArray<Problems.TextProblem> =>
  [null, ...Form.localesOf(form)].flatMap((locale) => {
    const path = Form.nameOf("html", locale)
    return strayIn(path, form[path] ?? "")
  })
