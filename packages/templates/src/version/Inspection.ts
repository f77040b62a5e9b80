import type { Detail } from "@waybill/domain/values/Refusal"
import type { TemplateSource, Words } from "@waybill/domain/template/TemplateState"
import * as VariableSchema from "@waybill/domain/template/VariableSchema"
import * as Limits from "../language/Limits.ts"
import * as Liquid from "../language/Liquid.ts"
import * as Translation from "../translate/Translation.ts"
import * as Parts from "./Parts.ts"
import * as Rendering from "./Rendering.ts"

/** Problems that are told of one source. */
const MAX_PROBLEMS = 20

const FORMS = { subject: "text", preheader: "text", html: "html", text: "text" } as const

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
      return problems.map((message) => ({ path: `${path}${name}`, message }))
    }),
  )

/** Names of the variables that a source expects, with their paths. */
const expectedBy = (source: TemplateSource): ReadonlyArray<string> => {
  const { html, locales, preheader, subject, text } = Translation.inLiquid(source)
  const all = [{ html, preheader, subject, text }, ...Object.values(locales)]
  return [
    ...new Set(
      all.flatMap((words) =>
        Object.entries(FORMS).flatMap(([name, form]) => {
          const source = words[name as keyof Words]
          return source === null ? [] : Liquid.variablesOf(form, source)
        }),
      ),
    ),
  ]
}

/** Suggests a schema for the variables that a source expects. */
export const suggest = (source: TemplateSource): VariableSchema.VariableSchema => {
  const root: Node = new Map()
  for (const path of expectedBy(source)) {
    let node = root
    for (const name of path.split(/[.[\]]+/u).filter((part) => part !== "" && !/^\d+$/u.test(part))) {
      const next: Node = node.get(name) ?? new Map()
      node.set(name, next)
      node = next
    }
  }
  // The words that a layout goes around, which no message brings.
  root.delete("content")
  return { type: "object", ...schemaOf(root) }
}

interface Node extends Map<string, Node> {}

const schemaOf = (node: Node): VariableSchema.VariableSchema => ({
  properties: Object.fromEntries(
    [...node].map(([name, child]) => [name, child.size === 0 ? {} : { type: "object" as const, ...schemaOf(child) }]),
  ),
})

/** Mail programs cut HTML that is longer. */
const CLIPPED_BYTES = 102 * 1024

/** Returns what a reader of a rendered mail would miss. */
export const warningsOf = ({ html, text }: Rendering.Rendered, source: TemplateSource): ReadonlyArray<Detail> => {
  const warnings: Array<Detail> = []
  if (html !== null) {
    if (Buffer.byteLength(html) > CLIPPED_BYTES)
      warnings.push({ path: "html", message: "is over 102 KB: Gmail shows only its beginning" })
    const silent = imagesIn(html).filter((image) => !/\salt\s*=/iu.test(image)).length
    if (silent > 0) warnings.push({ path: "html", message: `${silent} of its images have no \`alt\`` })
    const open = html.match(/\shref\s*=\s*["']http:/giu)?.length ?? 0
    if (open > 0) warnings.push({ path: "html", message: `${open} of its links are not https` })
    if (text === null) warnings.push({ path: "text", message: "is missing: it is derived from the HTML" })
  }
  const known = Object.keys((source.variables as VariableSchema.VariableSchema | null)?.properties ?? {})
  const unknown =
    source.variables === null
      ? []
      : expectedBy(source)
          .map(root)
          .filter((name) => !known.includes(name))
  for (const name of new Set(unknown))
    warnings.push({ path: "variables", message: `${name} is used and not in the schema` })
  return warnings
}

const root = (path: string): string => path.split(/[.[]/u)[0] ?? path

/** Returns the tags of images. Looks no further than each needs, so that the whole is read once. */
const imagesIn = (html: string): ReadonlyArray<string> => {
  const images: Array<string> = []
  for (const { index } of html.matchAll(/<img\s/giu)) {
    const end = html.indexOf(">", index)
    if (end === -1) break
    images.push(html.slice(index, Math.min(end, index + MAX_TAG_CHARS)))
  }
  return images
}

const MAX_TAG_CHARS = 4_096
