import type { Detail } from "@waybill/domain/values/Refusal"
import type { TemplateSource } from "@waybill/domain/template/TemplateState"
import * as VariableSchema from "@waybill/domain/template/VariableSchema"
import { Result } from "effect"
import type * as Deadline from "../language/Deadline.ts"
import * as Escape from "../html/Escape.ts"
import type * as Filters from "../language/Filters.ts"
import * as Liquid from "../language/Liquid.ts"
import * as Translation from "../translate/Translation.ts"
import * as Parts from "./Parts.ts"
import * as Words from "./Words.ts"

/** Words of a template that are parsed, with the parts that they use. */
export interface Compiled {
  /** The language of the template that was chosen; `null` is its own. */
  readonly locale: string | null
  readonly schema: VariableSchema.VariableSchema | null
  readonly subject: Liquid.Program | null
  readonly html: Liquid.Program | null
  readonly text: Liquid.Program | null
  readonly preheader: Liquid.Program | null
}

const LAYOUT = /\{%-?\s*layout\s/u

/** Returns a source in the layout of its template, unless it chooses one itself. */
const laidOut = (form: Liquid.Form, source: string, layout: string | null, library: Parts.Library): string =>
  layout !== null && !LAYOUT.test(source) && hasForm(form, layout, library)
    ? `{% layout "${layout}" %}${source}`
    : source

/** The names of the parts that a source uses in the layout of its template. */
export const usesOf = (form: Liquid.Form, source: string, layout: string | null, library: Parts.Library) =>
  Liquid.usesOf(laidOut(form, source, layout, library))

export interface Uses {
  readonly form: Liquid.Form
  readonly names: ReadonlyArray<string>
}

/** The names of the parts that each of the words of a template uses in one language, its layout first. */
export const allUses = (given: TemplateSource, locale: string | undefined): ReadonlyArray<Uses> => {
  const source = Translation.inLiquid(given)
  const words = Words.choose(source, locale)
  return PARTS.flatMap((part): ReadonlyArray<Uses> => {
    const text = words[part]
    if (text === null) return []
    const layout = source.layout === null || (part !== "html" && part !== "text") ? [] : [source.layout]
    return [{ form: part === "html" ? "html" : "text", names: [...new Set([...layout, ...Liquid.usesOf(text)])] }]
  })
}

const compile = (form: Liquid.Form, source: string | null, layout: string | null, library: Parts.Library) => {
  if (source === null) return Result.succeed(null)
  const whole = laidOut(form, source, layout, library)
  const { parts, problems } = Parts.collect(form, Liquid.usesOf(whole), library)
  return problems.length > 0
    ? Result.fail(problems.map(({ message }): Detail => ({ path: form, message })))
    : Result.succeed(Liquid.compile(form, whole, parts))
}

/** A layout without a text goes around the HTML alone. */
const hasForm = (form: Liquid.Form, layout: string, library: Parts.Library): boolean => {
  const found = library.get(layout)
  return found === undefined || form === "html" || found.text !== null
}

/** Parses a source that has no problems, in one language. */
export const prepare = (
  given: TemplateSource,
  library: Parts.Library,
  locale: string | undefined,
): Result.Result<Compiled, ReadonlyArray<Detail>> => {
  const source = Translation.inLiquid(given)
  const words = Words.choose(source, locale)
  return Result.all({
    locale: Result.succeed(words.locale),
    schema: Result.succeed(source.variables as VariableSchema.VariableSchema | null),
    subject: compile("text", words.subject, null, library),
    html: compile("html", words.html, source.layout, library),
    text: compile("text", words.text, source.layout, library),
    preheader: compile("text", words.preheader, null, library),
  })
}

/** Returns the memory that a parsed version takes. */
export const bytesOf = (compiled: Compiled): number =>
  PARTS.reduce((bytes, part) => bytes + (compiled[part]?.bytes ?? 0), 0)

export interface Rendered {
  readonly subject: string | null
  readonly html: string | null
  readonly text: string | null
  readonly preheader: string | null
  /** Variables that were written without a value, each in the part that names it. */
  readonly missing: ReadonlyArray<{ readonly path: string; readonly name: string }>
}

/** Variables that do not fit, or a source that cannot be rendered with them. */
export interface Failure {
  readonly cause: "variables" | "rendering"
  /** Whether the time was over, which may be the machine's doing. */
  readonly isLate: boolean
  readonly problems: ReadonlyArray<Detail>
}

const PARTS = ["subject", "preheader", "html", "text"] as const

/** Renders a template, until a deadline. */
export const render = (
  compiled: Compiled,
  given: VariableSchema.Variables,
  writing: Filters.Writing,
  deadline: Deadline.Deadline,
): Result.Result<Rendered, Failure> => {
  const { problems, variables } =
    compiled.schema === null ? { problems: [], variables: given } : VariableSchema.check(compiled.schema, given)
  if (problems.length > 0) return Result.fail({ cause: "variables", problems, isLate: false })
  const texts: Record<(typeof PARTS)[number], string | null> = {
    subject: null,
    preheader: null,
    html: null,
    text: null,
  }
  const missing: Array<Rendered["missing"][number]> = []
  for (const part of PARTS) {
    const program = compiled[part]
    if (program === null) continue
    const rendered = Liquid.render(program, variables, writing, deadline)
    if ("problem" in rendered) {
      const { isLate, problem } = rendered
      return Result.fail({ cause: "rendering", problems: [placed(part, problem)], isLate })
    }
    texts[part] = rendered.text
    missing.push(...rendered.missing.map((name) => ({ path: part, name })))
  }
  const { html, preheader, subject, text } = texts
  return Result.succeed({
    // A header is one line.
    subject: subject === null ? null : subject.replaceAll(/\s+/gu, " ").trim(),
    html: html === null || preheader === null ? html : withPreheader(html, preheader),
    text,
    preheader: preheader === null ? null : preheader.replaceAll(/\s+/gu, " ").trim(),
    missing,
  })
}

export const placed = (path: string, { column, line, message }: NonNullable<Detail["place"]>): Detail => ({
  path,
  message: `${message} (line ${line}, column ${column})`,
  place: { line, column, message },
})

/** Programs show the beginning of the HTML beside the subject; this stands before all that is seen. */
const withPreheader = (html: string, preheader: string): string => {
  const hidden = `<div style="display:none;max-height:0;overflow:hidden">${Escape.html(preheader)}</div>`
  const at = bodyOf(html)
  return html.slice(0, at) + hidden + html.slice(at)
}

/** Returns where the content of the body begins. One in a comment is for Outlook alone. */
const bodyOf = (html: string): number => {
  const pattern = /<!--|<body(?=[\s>])/giu
  for (let found = pattern.exec(html); found !== null; found = pattern.exec(html)) {
    if (found[0] !== "<!--") return html.indexOf(">", found.index) + 1
    const end = html.indexOf("-->", found.index + 2)
    if (end === -1) return 0
    pattern.lastIndex = end + 3
  }
  return 0
}
