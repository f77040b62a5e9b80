import * as Library from "liquidjs"
import * as Counting from "./Counting.ts"
import * as Dates from "./Dates.ts"
import * as Escape from "../html/Escape.ts"
import * as Filters from "./Filters.ts"
import * as Limits from "./Limits.ts"
import type { HtmlContext } from "../html/HtmlContext.ts"
import * as Ranges from "./Ranges.ts"
import * as Sorting from "./Sorting.ts"
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

/** Writes a value as text: a list without separators, an object as JSON. Counts it before it is made. */
export const textOf = (value: unknown, context: Library.Context): string => {
  if (typeof value === "string") return value
  if (value === null || value === undefined) return ""
  if (typeof value === "object") Counting.countRead(context, value, true)
  return writtenOf(value)
}

const writtenOf = (value: unknown): string => {
  if (value === null || value === undefined) return ""
  if (Array.isArray(value)) return value.map(writtenOf).join("")
  return typeof value === "object" && !(value instanceof Library.Drop) ? JSON.stringify(value) : String(value)
}

type Write = (text: string) => string
const asItIs: Write = (text) => text
const conditional = (filter: string, escape: Write, ofCaptured: Write): Escapes => ({
  filter,
  escape: (text) => Escape.inComment(escape(text)),
  ofCaptured: (text) => Escape.inComment(ofCaptured(text)),
})

/** Makes a filter that writes a value where an output stands, and counts it. What was captured is HTML. */
const writer = (write: Write, writeCaptured: Write) =>
  function (this: { readonly context: Library.Context }, value: unknown): unknown {
    const text = textOf(value, this.context)
    this.context.memoryLimit.use(text.length)
    return value instanceof Tags.Captured ? writeCaptured(text) : write(text)
  }

interface Escapes {
  readonly filter: string
  readonly escape: Write
  readonly ofCaptured: Write
}

/** Filters of outputs that stand elsewhere than in the text. They are added to the source before it is parsed. */
const CONTEXTS: { readonly [C in HtmlContext]: Escapes } = {
  attribute: { filter: "in_attribute", escape: Escape.html, ofCaptured: Escape.captured },
  scheme: { filter: "in_scheme", escape: Escape.scheme, ofCaptured: Escape.scheme },
  style: { filter: "in_style", escape: Escape.style, ofCaptured: Escape.style },
  url: { filter: "in_url", escape: Escape.url, ofCaptured: Escape.capturedUrl },
  "conditional attribute": conditional("in_conditional_attribute", Escape.html, Escape.captured),
  "conditional scheme": conditional("in_conditional_scheme", Escape.scheme, Escape.scheme),
  "conditional style": {
    filter: "in_conditional_style",
    escape: Escape.styleInComment,
    ofCaptured: Escape.styleInComment,
  },
  "conditional text": conditional("in_conditional_text", Escape.html, Escape.captured),
  "conditional url": conditional("in_conditional_url", Escape.url, Escape.capturedUrl),
}
export const filterOf = (context: HtmlContext): string => CONTEXTS[context].filter

Ranges.bound()

/** Makes the library's engine with the tags, filters and limits of templates, for a source and its parts. */
export const make = (form: Form, parts: Parts): Library.Liquid => {
  const write = writer(form === "html" ? Escape.html : asItIs, asItIs)
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
  const own = { ...Sorting.FILTERS, date: Dates.dating(engine.filters["date"] as Counting.Handler), ...Filters.OWN }
  for (const [name, handler] of Object.entries({ ...engine.filters, ...own }))
    engine.registerFilter(name, Counting.counted(name, handler as Counting.Handler))
  engine.registerFilter("raw", { raw: true, handler: writer(asItIs, asItIs) })
  for (const { escape, filter, ofCaptured } of Object.values(CONTEXTS))
    engine.registerFilter(filter, { raw: true, handler: writer(escape, ofCaptured) })
  return engine
}
