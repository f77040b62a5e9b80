import type { Detail } from "@waybill/domain/values/Refusal"
import type { TemplateLanguage, TemplateSource, Words } from "@waybill/domain/template/TemplateState"
import * as Limits from "../language/Limits.ts"
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

/** Characters of the translations that are kept: those of a largest template with its parts, in both languages. */
const MAX_KEPT_CHARS = 4 * Limits.MAX_TOGETHER_CHARS
const kept: { readonly [L in Foreign]: Map<string, Translated> } = {
  handlebars: new Map(),
  mustachio: new Map(),
  resend: new Map(),
}
let keptChars = 0

/** Translates a text once for all who ask for it in the same request; a part is used by many languages of a template. */
const translate = (language: Foreign, text: string): Translated => {
  const known = kept[language].get(text)
  if (known !== undefined) return known
  const made = TRANSLATORS[language](text)
  const chars = text.length + made.liquid.length
  if (keptChars + chars > MAX_KEPT_CHARS) {
    for (const texts of Object.values(kept)) texts.clear()
    keptChars = 0
  }
  kept[language].set(text, made)
  keptChars += chars
  return made
}

const isForeign = (language: TemplateLanguage | undefined): language is Foreign =>
  language !== undefined && language !== "liquid"

const NAMES = ["subject", "html", "text", "preheader"] as const

const translated = (words: Words, language: Foreign): Words => {
  const part = (name: (typeof NAMES)[number]) => {
    const text = words[name]
    return text === null ? null : translate(language, text).liquid
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

/** Returns the HTML or the text of a source in Liquid. */
export const bodyInLiquid = (source: TemplateSource, name: Body): string | null => {
  const { [name]: text, language } = source
  return text === null || !isForeign(language) ? text : translate(language, text).liquid
}

/** Returns what of a template cannot be said in Liquid, with its place in the source. */
export const problemsOf = (source: TemplateSource): ReadonlyArray<Detail> => {
  const { language } = source
  if (!isForeign(language)) return []
  return Object.entries<Words>({ "": source, ...source.locales }).flatMap(([tag, words]) =>
    NAMES.flatMap((name) =>
      translate(language, words[name] ?? "").problems.map(({ column, line, message }) => ({
        path: tag === "" ? name : `locales.${tag}.${name}`,
        message: `${message} (line ${line}, column ${column})`,
        place: { line, column, message },
      })),
    ),
  )
}
