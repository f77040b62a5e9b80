import { nearestName } from "@waybill/domain/values/nearestName"
import * as Library from "liquidjs"
import * as Escape from "./Escape.ts"
import * as Filters from "./Filters.ts"
import * as Limits from "./Limits.ts"
import * as Markup from "./Markup.ts"
import * as Problem from "./Problem.ts"
import * as Tags from "./Tags.ts"

/** HTML is escaped; a text, such as the subject, is not. */
export type Form = "html" | "text"

/** Sources of partials and layouts, by name. */
export type Parts = Readonly<Record<string, string>>

/** Tags of the library that a template may use. */
const TAGS = ["assign", "break", "case", "comment", "continue", "cycle", "decrement", "for", "if", "increment"] as const
const MORE_TAGS = ["raw", "render", "unless", "#"] as const

const textOf = (value: unknown): string => {
  if (value === null || value === undefined) return ""
  if (Array.isArray(value)) return value.map(textOf).join("")
  return typeof value === "object" && !(value instanceof Library.Drop) ? JSON.stringify(value) : String(value)
}

/** Writes a value where an output stands, and counts it. */
const writer = (write: (text: string) => string, trusts: boolean) =>
  function (this: { readonly context: Library.Context }, value: unknown): unknown {
    const text = textOf(value)
    this.context.memoryLimit.use(text.length)
    return trusts && value instanceof Tags.Captured ? text : write(text)
  }

/** Names of the filters that are added to the outputs of a source which stand elsewhere than in the text. */
const FILTER_OF: { readonly [P in Markup.Place]: string } = {
  attribute: "in_attribute",
  style: "in_style",
  text: "in_text",
  url: "in_url",
}

const makeEngine = (form: Form, parts: Parts): Library.Liquid => {
  const write = form === "html" ? writer(Escape.html, true) : writer((text) => text, true)
  const engine = new Library.Liquid({
    // The library calls it as a filter, with the context.
    outputEscape: write as (value: unknown) => string,
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
  const tags: ReadonlySet<string> = new Set([...TAGS, ...MORE_TAGS])
  for (const name of Object.keys(engine.tags)) if (!tags.has(name)) delete engine.tags[name]
  engine.registerTag("capture", Tags.CaptureTag)
  engine.registerTag("layout", Tags.LayoutTag)
  const filters: ReadonlySet<string> = new Set(Filters.KEPT)
  for (const name of Object.keys(engine.filters)) if (!filters.has(name)) engine.unregisterFilter(name)
  for (const [name, filter] of Object.entries(Filters.OWN)) engine.registerFilter(name, filter)
  engine.registerFilter("raw", { raw: true, handler: writer((text) => text, true) })
  for (const place of ["attribute", "style", "url"] as const)
    engine.registerFilter(FILTER_OF[place], {
      raw: true,
      handler: writer((text) => Escape.at(place, text), place === "attribute"),
    })
  return engine
}

/** A source that was parsed, with the parts that it uses. */
export interface Program {
  readonly engine: Library.Liquid
  readonly templates: Array<Library.Template>
}

const USE = /\{%-?\s*(render|layout)\s+(["'])([^"']{1,64})\2/gu

/** The names of the partials and layouts that a source uses. */
export const usesOf = (source: string): ReadonlyArray<string> => [...new Set(matchesOf(source).map(({ name }) => name))]

const matchesOf = (source: string): ReadonlyArray<{ readonly name: string; readonly type: Library.LookupType }> =>
  Array.from(source.matchAll(USE), ([, tag, , name = ""]) => ({
    name,
    type: tag === "layout" ? Library.LookupType.Layouts : Library.LookupType.Partials,
  }))

/** A partial is chosen by its name alone, so that what a template uses is known before it is rendered. */
const DYNAMIC = /\{%-?\s*render\s+(?!["'])/u

/** Returns what is wrong with a source: first that it cannot be parsed, else that a variable stands where none can. */
export const problemsOf = (form: Form, source: string): ReadonlyArray<Problem.Problem> => {
  if (source.length > Limits.MAX_SOURCE_CHARS)
    return [Problem.at(source, 0, `is longer than ${Limits.MAX_SOURCE_CHARS} characters`)]
  const unparsed = sizeProblem(source) ?? parseProblem(form, source)
  if (unparsed !== undefined) return [unparsed]
  const dynamic = DYNAMIC.exec(source)
  const named =
    dynamic === null
      ? []
      : [Problem.at(source, dynamic.index, 'render needs a name in quotes, as in {% render "footer" %}')]
  return [...named, ...(form === "html" ? Markup.read(source).problems : [])]
}

const PIECE = /\{\{|\{%/gu

/** Number of the tags and outputs of a source. */
export const piecesOf = (source: string): number => source.match(PIECE)?.length ?? 0

/** Parsing takes time for each tag and output, and more for long ones. */
const sizeProblem = (source: string): Problem.Problem | undefined => {
  let count = 0
  for (const { 0: open, index } of source.matchAll(PIECE)) {
    const piece = source.slice(index, index + Limits.MAX_PIECE_CHARS)
    if (!piece.includes(open === "{{" ? "}}" : "%}"))
      return Problem.at(source, index, `${open} is not closed within ${Limits.MAX_PIECE_CHARS} characters`)
    if (++count > Limits.MAX_PIECES)
      return Problem.at(source, index, `has more than ${Limits.MAX_PIECES} tags and variables`)
  }
  return undefined
}

const checkers: { readonly [F in Form]: Library.Liquid } = {
  html: makeEngine("html", {}),
  text: makeEngine("text", {}),
}

const parseProblem = (form: Form, source: string): Problem.Problem | undefined => {
  try {
    checkers[form].parse(source)
    return undefined
  } catch (error) {
    return { ...placeOf(error), message: explain(error) }
  }
}

/** Escapes each output for its place: what stands in an attribute, an address or a style gets a filter of its own. */
const withPlaces = (source: string): string => {
  const pieces: Array<string> = []
  let from = 0
  for (const { end, place } of Markup.read(source).outputs) {
    const until = source[end - 1] === "-" ? end - 1 : end
    const piece = source.slice(from, until)
    pieces.push(piece, RAW.test(piece.slice(-MAX_RAW_CHARS)) ? "" : ` | ${FILTER_OF[place]}`)
    from = until
  }
  return [...pieces, source.slice(from)].join("")
}

const MAX_RAW_CHARS = 32
const RAW = /\|\s{0,9}raw\s{0,9}$/u

/** Parses a source that has no problems. */
export const compile = (form: Form, source: string, parts: Parts): Program => {
  const placed = (text: string) => (form === "html" ? withPlaces(text) : text)
  const engine = makeEngine(form, Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, placed(part)])))
  // Parsed now, so that no rendering spends its time on that.
  for (const { name, type } of [source, ...Object.values(parts)].flatMap(matchesOf)) engine.parseFileSync(name, type)
  return { engine, templates: engine.parse(placed(source)) }
}

/** Collects what is written, up to the bound. */
class BoundedEmitter implements Library.Emitter {
  buffer = ""

  write(value: unknown): void {
    const text = textOf(value)
    if (this.buffer.length + text.length > Limits.MAX_OUTPUT_CHARS) throw new Error(OUTPUT_LIMIT)
    this.buffer += text
  }
}

const OUTPUT_LIMIT = `writes more than ${Limits.MAX_OUTPUT_CHARS} characters`

export type Rendered =
  | { readonly text: string }
  /** `isLate`: the time was over, which may be the machine's doing. */
  | { readonly problem: Problem.Problem; readonly isLate: boolean }

/** Renders a program within some milliseconds. Variables are JSON: objects without methods. */
export const render = (
  { engine, templates }: Program,
  variables: object,
  writing: Filters.Writing,
  limitMs: number = Limits.RENDER_MS,
): Rendered => {
  const context = new Library.Context(variables, engine.options, {
    sync: true,
    renderLimit: limitMs,
    globals: { [Filters.WRITING]: writing },
  })
  const emitter = new BoundedEmitter()
  try {
    Library.toValueSync(engine.renderer.renderTemplates(templates, context, emitter))
    return { text: emitter.buffer }
  } catch (error) {
    const isLate = error instanceof Error && error.message.includes(LATE)
    return { problem: { ...placeOf(error), message: explain(error) }, isLate }
  }
}

/** The library's words for a rendering whose time is over. */
const LATE = "template render limit exceeded"

const WHOLE_PIECE = /\{\{[^]*?\}\}|\{%[^]*?%\}/gu
/** Steps of the library, which looks for the line of each variable from the begin of the source on. */
const MAX_STEPS = 50_000_000

/** Returns the tags of a source, and each of its outputs once: all that names variables. */
const withoutText = (source: string): string => {
  const outputs = new Set<string>()
  const kept: Array<string> = []
  for (const [piece] of source.matchAll(WHOLE_PIECE)) {
    if (piece.startsWith("{{") && outputs.has(piece)) continue
    outputs.add(piece)
    kept.push(piece)
  }
  const text = kept.join("")
  return kept.length * text.length > MAX_STEPS ? "" : text
}

/**
 * Names of the variables that a source without problems expects, with their paths, such as `order.items`; none for a source of
 * very many.
 */
export const variablesOf = (form: Form, source: string): ReadonlyArray<string> => {
  try {
    return checkers[form].globalFullVariablesSync(withoutText(source))
  } catch {
    return []
  }
}

const placeOf = (error: unknown): { readonly line: number; readonly column: number } => {
  const token = error instanceof Library.LiquidError ? error.token : undefined
  const [line = 1, column = 1] = token === undefined ? [] : token.getPosition()
  return { line, column }
}

/** Words of the library, and ours for them. */
const WORDS: ReadonlyArray<readonly [pattern: RegExp, explain: (found: RegExpExecArray) => string]> = [
  [
    /undefined filter: ([\w-]+)/u,
    ([, name = ""]) => {
      const nearest = nearestName(name, [...Filters.KEPT, ...Object.keys(Filters.OWN), "raw"])
      return `there is no filter ${name}${nearest === undefined ? "" : `; did you mean ${nearest}?`}`
    },
  ],
  [
    /tag "([^"]{0,64})" not found/u,
    ([, name = ""]) => {
      const nearest = nearestName(name, [...TAGS, ...MORE_TAGS, "capture", "layout"])
      return `there is no tag ${name}${nearest === undefined ? "" : `; did you mean ${nearest}?`}`
    },
  ],
  [/ENOENT.*?"([^"]{0,64})"/u, ([, name = ""]) => `there is no partial or layout ${name}`],
  [/template render limit exceeded/u, () => `takes longer than ${Limits.RENDER_MS} ms to render`],
  [/memory alloc limit exceeded/u, () => `makes more than ${Limits.MAX_MADE} characters and items`],
  [/parse length limit exceeded/u, () => `is longer than ${Limits.MAX_SOURCE_CHARS} characters`],
  [/Maximum call stack|Invalid string length/u, () => "is nested too deep"],
]
const MAX_MESSAGE_CHARS = 300

const explain = (error: unknown): string => {
  const message = error instanceof Error ? error.message : String(error)
  for (const [pattern, words] of WORDS) {
    const found = pattern.exec(message)
    if (found !== null) return words(found)
  }
  // The library appends the place, which stands beside the message.
  return message.replace(/, (?:file:.*?, )?line:\d+, col:\d+$/u, "").slice(0, MAX_MESSAGE_CHARS)
}
