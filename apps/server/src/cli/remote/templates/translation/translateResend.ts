import * as Names from "./Names.ts"
import * as Mustaches from "./Mustaches.ts"

export interface Translation {
  readonly liquid: string
  readonly problems: ReadonlyArray<Mustaches.Untranslated>
}

/** Names that Resend fills in itself. */
const OWN = /^RESEND_/u

/** Translates `{{{NAME}}}` and `{{{NAME|fallback}}}`. Values are escaped, as where Resend's packages send them by Waybill. */
export const translateResend = (source: string): Translation => {
  const problems: Array<Mustaches.Untranslated> = []
  const pieces = Mustaches.tokensOf(source).map((token) => {
    if (token.kind === "text") return Names.literally(token.text)
    const [name = "", ...fallback] = token.body.split("|")
    const path = Names.pathIn("", name.trim().split("."))
    const words = fallback.join("|").trim()
    const quoted = Names.quotedOf(words)
    if ((token.sigil !== "" && token.sigil !== "{") || path === undefined || quoted === undefined || OWN.test(path)) {
      problems.push({ line: token.line, message: `{{${token.body}}} has no counterpart` })
      return ""
    }
    return words === "" ? `{{ ${path} }}` : `{{ ${path} | default: ${quoted} }}`
  })
  return { liquid: pieces.join(""), problems }
}
