import type { Detail } from "@waybill/domain/values/Refusal"
import type { TemplateSource, Words } from "@waybill/domain/template/TemplateState"
import * as Template from "@waybill/domain/template/Template"
import * as VariableSchema from "@waybill/domain/template/VariableSchema"
import { Result } from "effect"
import * as Liquid from "../language/Liquid.ts"
import type * as Parts from "./Parts.ts"
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

/** Returns what is wrong with a source by itself: syntax, places of variables, languages and the schema. */
export const problemsOf = (source: TemplateSource): ReadonlyArray<Detail> => [
  ...ofWords(source, ""),
  ...Object.entries(source.locales).flatMap(([tag, words]) =>
    Template.isLocale(tag)
      ? ofWords(words, `locales.${tag}`)
      : [{ path: `locales.${tag.slice(0, 20)}`, message: "must be a language, such as de or pt-BR" }],
  ),
  ...(source.variables === null ? [] : VariableSchema.problemsOf(source.variables)).map(({ message, path }) => ({
    path: path === "" ? "variables" : `variables.${path}`,
    message,
  })),
]

/** Returns what is wrong with a source among the parts of its account: those that it uses must be there, without a ring. */
export const unresolved = (source: TemplateSource, library: Parts.Library): ReadonlyArray<Detail> =>
  [undefined, ...Object.keys(source.locales)].flatMap((locale) => {
    const prepared = Rendering.prepare(source, library, locale)
    if (Result.isSuccess(prepared)) return []
    return prepared.failure.map(({ message, path }) => ({
      path: locale === undefined ? path : `locales.${locale}.${path}`,
      message,
    }))
  })

/** Names of the variables that a source expects, with their paths. */
const expectedBy = ({ html, locales, preheader, subject, text }: TemplateSource): ReadonlyArray<string> => {
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
    const images = html.match(/<img\s[^>]{0,4096}>/giu) ?? []
    const silent = images.filter((image) => !/\salt\s*=/iu.test(image)).length
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
