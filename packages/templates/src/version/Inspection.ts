import type { Detail } from "@waybill/domain/values/Refusal"
import * as NamedParts from "@waybill/domain/template/NamedParts"
import type { TemplateSource, Words } from "@waybill/domain/template/TemplateState"
import * as VariableSchema from "@waybill/domain/template/VariableSchema"
import * as Limits from "../language/Limits.ts"
import * as Liquid from "../language/Liquid.ts"
import * as Problem from "../html/Problem.ts"
import * as Translation from "../translate/Translation.ts"
import * as Parts from "./Parts.ts"
import * as Rendering from "./Rendering.ts"

/** Problems that are told of one source. */
const MAX_PROBLEMS = 20

/** The words of a template, and what variables become in them. */
export const FORMS = { subject: "text", preheader: "text", html: "html", text: "text" } as const

const ofWords = (words: Words, path: string): ReadonlyArray<Detail> =>
  Object.entries(FORMS).flatMap(([name, form]) => {
    const source = words[name as keyof Words]
    if (source === null) return []
    return Liquid.problemsOf(form, source)
      .slice(0, MAX_PROBLEMS)
      .map((problem) => Rendering.placed(path === "" ? name : `${path}.${name}`, problem))
  })

/** Parsing takes time for all parts together. */
const sizeProblems = (source: TemplateSource): ReadonlyArray<Detail> => {
  const all = [source, ...Object.values(source.locales)].flatMap((words) =>
    Object.keys(FORMS).flatMap((name) => words[name as keyof Words] ?? []),
  )
  const total = (of: (text: string) => number) => all.reduce((sum, text) => sum + of(text), 0)
  if (total((text) => text.length) > Limits.MAX_TOGETHER_CHARS)
    return [{ path: "", message: `has more than ${Limits.MAX_TOGETHER_CHARS} characters in all parts and languages` }]
  return total(Liquid.piecesOf) > Limits.MAX_TOGETHER_PIECES
    ? [
        {
          path: "",
          message: `has more than ${Limits.MAX_TOGETHER_PIECES} tags and variables in all parts and languages`,
        },
      ]
    : []
}

/** Returns what is wrong with a source by itself: size, syntax, places of variables, languages and the schema. */
export const problemsOf = (source: TemplateSource): ReadonlyArray<Detail> => {
  const size = sizeProblems(source)
  if (size.length > 0) return size
  const unsaid = Translation.problemsOf(source)
  if (unsaid.length > 0) return unsaid
  const liquid = Translation.inLiquid(source)
  const grown = liquid === source ? [] : sizeProblems(liquid)
  return grown.length > 0 ? grown : partProblems(liquid)
}

/** Whether a source is small enough, and said in Liquid, so that the parts that it uses can be looked for. */
export const isReadable = (source: TemplateSource): boolean =>
  sizeProblems(source).length === 0 && Translation.problemsOf(source).length === 0

const partProblems = (source: TemplateSource): ReadonlyArray<Detail> => [
  ...ofWords(source, ""),
  ...Object.entries(source.locales).flatMap(([tag, words]) => ofWords(words, `locales.${tag}`)),
  ...(source.variables === null ? [] : VariableSchema.problemsOf(source.variables)).map(({ message, path }) => ({
    path: path === "" ? "variables" : `variables.${path}`,
    message,
  })),
]

/** Returns a source as one for each of its languages, with the beginning of the paths in it. */
export const byLanguage = (source: TemplateSource) =>
  Object.entries<Words>({ "": source, ...source.locales }).map(([tag, { html, preheader, subject, text }]) => ({
    path: tag === "" ? "" : `locales.${tag}.`,
    source: { ...source, subject, html, text, preheader, locales: {} } satisfies TemplateSource,
  }))

/** Returns what is wrong with a source among the parts of its account: those that it uses must be there, without a ring. */
export const unresolved = (given: TemplateSource, library: Parts.Library): ReadonlyArray<Detail> =>
  byLanguage(Translation.inLiquid(given)).flatMap(({ path, source }) =>
    Object.entries(FORMS).flatMap(([name, form]) => {
      const words = source[name as keyof Words]
      if (words === null) return []
      const layout = name === "html" || name === "text" ? source.layout : null
      const { problems } = Parts.collect(form, Rendering.usesOf(form, words, layout, library), library)
      return problems.map(({ message, used }): Detail => {
        const tag = used === undefined ? undefined : NamedParts.tagsIn(words).find((each) => each.name === used)
        if (tag !== undefined) return Rendering.placed(`${path}${name}`, Problem.at(words, tag.offset, message))
        // The layout is no part of these words: it is chosen in a field of its own.
        return { path: used !== undefined && used === layout ? "layout" : `${path}${name}`, message }
      })
    }),
  )
