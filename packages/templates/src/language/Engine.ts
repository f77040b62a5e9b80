import * as Library from "liquidjs"
import * as Escape from "./Escape.ts"
import * as Filters from "./Filters.ts"
import * as Limits from "./Limits.ts"
import type { HtmlContext } from "./HtmlContext.ts"
import * as Tags from "./Tags.ts"

/** HTML is escaped; a text, such as the subject, is not. */
export type Form = "html" | "text"

/** Sources of partials and layouts, by name. */
export type Parts = Readonly<Record<string, string>>

/** Tags of the library that a template may use. */
const KEPT_TAGS: ReadonlyArray<string> = [
  "#",
  "assign",
  "break",
  "comment",
  "continue",
  "cycle",
  "decrement",
  "for",
  "if",
  "increment",
  "raw",
  "render",
  "unless",
]
const OWN_TAGS = { capture: Tags.CaptureTag, case: Tags.CaseTag, layout: Tags.LayoutTag }

/** Names of all tags, and of all filters, that a template may use. */
export const TAG_NAMES = [...KEPT_TAGS, ...Object.keys(OWN_TAGS)]
export const FILTER_NAMES = [...Filters.KEPT, ...Object.keys(Filters.OWN), "raw"]

/** Writes a value as text: a list without separators, an object as JSON. */
export const textOf = (value: unknown): string => {
  if (value === null || value === undefined) return ""
  if (Array.isArray(value)) return value.map(textOf).join("")
  return typeof value === "object" && !(value instanceof Library.Drop) ? JSON.stringify(value) : String(value)
}

type Write = (text: string) => string
const asItIs: Write = (text) => text
const inComment =
  (write: Write): Write =>
  (text) =>
    Escape.inComment(write(text))

/** Makes a filter that writes a value where an output stands, and counts it. `trusts`: what was captured is escaped already. */
const writer = (write: Write, trusts: boolean) =>
  function (this: { readonly context: Library.Context }, value: unknown): unknown {
    const text = textOf(value)
    this.context.memoryLimit.use(text.length)
    return trusts && value instanceof Tags.Captured ? text : write(text)
  }

/** Filters of outputs that stand elsewhere than in the text. They are added to the source before it is parsed. */
const CONTEXTS: {
  readonly [C in HtmlContext]: { readonly filter: string; readonly escape: Write; readonly trusts: boolean }
} = {
  attribute: { filter: "in_attribute", escape: Escape.html, trusts: false },
  style: { filter: "in_style", escape: Escape.style, trusts: false },
  url: { filter: "in_url", escape: Escape.url, trusts: false },
  "conditional attribute": { filter: "in_conditional_attribute", escape: inComment(Escape.html), trusts: false },
  "conditional style": { filter: "in_conditional_style", escape: Escape.styleInComment, trusts: false },
  "conditional text": { filter: "in_conditional_text", escape: inComment(Escape.html), trusts: false },
  "conditional url": { filter: "in_conditional_url", escape: inComment(Escape.url), trusts: false },
}
export const filterOf = (context: HtmlContext): string => CONTEXTS[context].filter

/** Makes the library's engine with the tags, filters and limits of templates, for a source and its parts. */
export const make = (form: Form, parts: Parts): Library.Liquid => {
  const write = writer(form === "html" ? Escape.html : asItIs, true)
  const engine = new Library.Liquid({
    // The library calls it as a filter, with the context.
    outputEscape: write as (value: unknown) => string,
    operators: Tags.OPERATORS,
    templates: { ...parts },
    cache: true,
    strictFilters: true,
    ownPropertyOnly: true,
    relativeReference: false,
    locale: "en-US",
    timezoneOffset: 0,
    parseLimit: Limits.MAX_TOGETHER_CHARS * 2,
    memoryLimit: Limits.MAX_MADE,
    renderLimit: Limits.RENDER_MS,
  })
  for (const name of Object.keys(engine.tags)) if (!KEPT_TAGS.includes(name)) delete engine.tags[name]
  for (const [name, tag] of Object.entries(OWN_TAGS)) engine.registerTag(name, tag)
  for (const name of Object.keys(engine.filters)) if (!Filters.KEPT.includes(name)) engine.unregisterFilter(name)
  for (const [name, steps] of Object.entries(Filters.ITEM_STEPS))
    engine.registerFilter(name, Filters.counted(engine.filters[name] as Filters.Handler, steps))
  for (const [name, filter] of Object.entries(Filters.OWN)) engine.registerFilter(name, filter)
  engine.registerFilter("raw", { raw: true, handler: writer(asItIs, true) })
  for (const { escape, filter, trusts } of Object.values(CONTEXTS))
    engine.registerFilter(filter, { raw: true, handler: writer(escape, trusts) })
  return engine
}
