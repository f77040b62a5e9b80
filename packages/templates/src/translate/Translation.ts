import type { Detail } from "@waybill/domain/values/Refusal"
import type { TemplateLanguage, TemplateSource, Words } from "@waybill/domain/template/TemplateState"
import { fromHandlebars } from "./fromHandlebars.ts"
import { fromMustachio } from "./fromMustachio.ts"
import { fromResend } from "./fromResend.ts"
import type { Translated } from "./LiquidWriter.ts"

type Foreign = Exclude<TemplateLanguage, "liquid">

const TRANSLATORS: { readonly [L in Foreign]: (source: string) => Translated } = {
  handlebars: fromHandlebars,
  mustachio: fromMustachio,
  resend: fromResend,
}

const isForeign = (language: TemplateLanguage | undefined): language is Foreign =>
  language !== undefined && language !== "liquid"

const NAMES = ["subject", "html", "text", "preheader"] as const

const translated = (words: Words, language: Foreign): Words => {
  const part = (name: (typeof NAMES)[number]) => {
    const text = words[name]
    return text === null ? null : TRANSLATORS[language](text).liquid
  }
  return { subject: part("subject"), html: part("html"), text: part("text"), preheader: part("preheader") }
}

/** Returns a template in Liquid, with the same fields. */
export const inLiquid = (source: TemplateSource): TemplateSource => {
  const { language, ...rest } = source
  if (!isForeign(language)) return source
  return {
    ...rest,
    ...translated(rest, language),
    locales: Object.fromEntries(Object.entries(rest.locales).map(([tag, words]) => [tag, translated(words, language)])),
  }
}

/** The words that stand in those of others. */
type Body = "html" | "text"

const bodies = new WeakMap<TemplateSource, Map<Body, string>>()

/** Returns the HTML or the text of a source in Liquid. Translates each once: a part is used by many languages of a template. */
export const bodyInLiquid = (source: TemplateSource, name: Body): string | null => {
  const { [name]: text, language } = source
  if (text === null || !isForeign(language)) return text
  const own = bodies.get(source) ?? new Map<Body, string>()
  bodies.set(source, own)
  const known = own.get(name)
  if (known !== undefined) return known
  const { liquid } = TRANSLATORS[language](text)
  own.set(name, liquid)
  return liquid
}

/** Returns what of a template cannot be said in Liquid, with its place in the source. */
export const problemsOf = (source: TemplateSource): ReadonlyArray<Detail> => {
  const { language } = source
  if (!isForeign(language)) return []
  return Object.entries<Words>({ "": source, ...source.locales }).flatMap(([tag, words]) =>
    NAMES.flatMap((name) =>
      TRANSLATORS[language](words[name] ?? "").problems.map(({ column, line, message }) => ({
        path: tag === "" ? name : `locales.${tag}.${name}`,
        message: `${message} (line ${line}, column ${column})`,
      })),
    ),
  )
}
