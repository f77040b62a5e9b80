import { LiquidWriter, type Translated } from "./LiquidWriter.ts"
import * as LiquidTerms from "./LiquidTerms.ts"

const VARIABLE = /\{\{\{([^{}]{1,2000})\}\}\}/gu
/** A name, or a part of what has parts. */
const KEY = /^[A-Za-z_]\w{0,49}(?:\.\w{1,50}){0,9}$/u
/** Names that Resend fills in from a contact. */
const OF_CONTACTS: ReadonlySet<string> = new Set([
  "FIRST_NAME",
  "LAST_NAME",
  "EMAIL",
  "UNSUBSCRIBE_URL",
  "contact",
  "this",
])

/** Translates a template of Resend: `{{{NAME}}}`, or `{{{NAME|fallback}}}`. Everything else is text. */
export const fromResend = (source: string): Translated => {
  const writer = new LiquidWriter(source)
  let from = 0
  for (const { 0: tag, 1: inner = "", index } of source.matchAll(VARIABLE)) {
    const bar = inner.indexOf("|")
    const key = (bar === -1 ? inner : inner.slice(0, bar)).trim()
    const fallback = bar === -1 ? undefined : inner.slice(bar + 1).trim()
    writer.text(source.slice(from, index), from)
    from = index + tag.length
    const path = key.split(".")
    const [name = ""] = path
    if (OF_CONTACTS.has(name) || name.startsWith("RESEND_"))
      writer.problem(index, `${key.slice(0, 64)} is filled in by Resend from a contact; use a variable of another name`)
    else if (!KEY.test(key)) writer.problem(index, `${key.slice(0, 64)} is not a name of letters, digits and _`)
    else {
      const filter = fallback === undefined ? "" : ` | default: ${LiquidTerms.quoted(fallback)}`
      writer.liquid(`{{ ${path.reduce(LiquidTerms.property, "")}${filter} }}`)
    }
  }
  writer.text(source.slice(from), from)
  return writer.finish()
}
