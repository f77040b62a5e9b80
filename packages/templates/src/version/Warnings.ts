import type { TemplateKind, TemplateSource, Words } from "@waybill/domain/template/TemplateState"
import type { VariableSchema } from "@waybill/domain/template/VariableSchema"
import { nearestName } from "@waybill/domain/values/nearestName"
import type { Detail } from "@waybill/domain/values/Refusal"
import * as Problem from "../html/Problem.ts"
import * as Variables from "../language/Variables.ts"
import * as Translation from "../translate/Translation.ts"
import * as Inspection from "./Inspection.ts"
import * as Rendering from "./Rendering.ts"

/** Warnings about variables of one template. */
const MAX_UNKNOWN = 20

/** Returns what an author may have overlooked in a source that has no problems. */
export const ofSource = (source: TemplateSource): ReadonlyArray<Detail> => [...unknownIn(source), ...borrowedBy(source)]

/** Returns the variables that are used and that no message may bring, each where it first stands. */
const unknownIn = (given: TemplateSource): ReadonlyArray<Detail> => {
  if (given.variables === null) return []
  const schema = given.variables as VariableSchema
  const source = Translation.inLiquid(given)
  return Inspection.byLanguage(source)
    .flatMap(({ path, source: words }) =>
      Object.entries(Inspection.FORMS).flatMap(([name, form]): ReadonlyArray<Detail> => {
        const text = words[name as keyof Words]
        if (text === null) return []
        return Variables.usedIn(form, text).expected.flatMap((use) => {
          const message = unknown(schema, use.path)
          if (message === undefined) return []
          // Places are those of the translation, which its author does not see.
          if (source !== given) return [{ path: `${path}${name}`, message }]
          return [Rendering.placed(`${path}${name}`, Problem.at(text, use.offset, message))]
        })
      }),
    )
    .slice(0, MAX_UNKNOWN)
}

const unknown = (schema: VariableSchema, path: Variables.Use["path"]): string | undefined => {
  // The words that a layout goes around.
  if (path[0] === "content") return undefined
  let node: VariableSchema | undefined = { ...schema, properties: schema.properties ?? {} }
  for (const [nth, name] of path.entries()) {
    const properties: VariableSchema["properties"] = node?.properties
    if (typeof name === "number" || properties === undefined) return undefined
    if (!Object.hasOwn(properties, name)) {
      const nearest = nearestName(name, Object.keys(properties))
      const hint = nearest === undefined ? "" : `; did you mean \`${nearest}\`?`
      return nth > 0 && name === "size"
        ? undefined
        : `\`${path.slice(0, nth + 1).join(".")}\` is not in the schema${hint}`
    }
    node = properties[name]
  }
  return undefined
}

/** Returns the lines beside a language's own HTML that are in another language. */
const borrowedBy = ({ locales, preheader, subject }: TemplateSource): ReadonlyArray<Detail> =>
  Object.entries(locales).flatMap(([tag, words]) =>
    words.html === null
      ? []
      : Object.entries({ subject, preheader }).flatMap(([name, own]) =>
          words[name as "subject" | "preheader"] === null && own !== null
            ? [
                {
                  path: `locales.${tag}.${name}`,
                  message: "is missing: that of the wider language stands beside this HTML",
                },
              ]
            : [],
        ),
  )

/** Returns that a message of a template has to bring a subject, which nothing else says before it is sent. */
export const ofSubject = (kind: TemplateKind, subject: string | null): ReadonlyArray<Detail> =>
  kind !== "template" || (subject !== null && subject !== "")
    ? []
    : [{ path: "subject", message: "is missing: each message has to bring one" }]

/** Mail programs cut HTML that is longer. */
const CLIPPED_BYTES = 102 * 1024

/** Returns the variables that were written without a value, but not those of which a warning about the source says more. */
export const ofMissing = (
  missing: Rendering.Rendered["missing"],
  source: ReadonlyArray<Detail>,
): ReadonlyArray<Detail> => {
  const named = new Set(["content", ...source.map(({ message }) => message.split("`", 2)[1] ?? "")])
  return missing.flatMap(({ name, path }) => {
    const isNamed = [...named].some((known) => name === known || name.startsWith(`${known}.`))
    named.add(name)
    return isNamed ? [] : [{ path, message: `\`${name}\` has no value` }]
  })
}

/** Returns what a reader of a rendered mail would miss. */
export const ofRendered = ({ html, text }: Pick<Rendering.Rendered, "html" | "text">): ReadonlyArray<Detail> => {
  const warnings: Array<Detail> = []
  if (html === null) return warnings
  if (Buffer.byteLength(html) > CLIPPED_BYTES)
    warnings.push({ path: "html", message: "is over 102 KB: Gmail shows only its beginning" })
  const silent = (html.match(IMAGE) ?? []).filter((image) => !/\salt\s*=/iu.test(image)).length
  if (silent > 0) warnings.push({ path: "html", message: `${silent} of its images have no \`alt\`` })
  const open = html.match(/\shref\s*=\s*["']http:/giu)?.length ?? 0
  if (open > 0) warnings.push({ path: "html", message: `${open} of its links are not https` })
  if (text === null) warnings.push({ path: "text", message: "is missing: it is derived from the HTML" })
  return warnings
}

/** Tags of images, each up to its end, so that the whole is read once. */
const IMAGE = /<img\s[^>]{0,4096}/giu
