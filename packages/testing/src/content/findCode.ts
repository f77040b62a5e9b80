import type { Readable } from "./findLink.ts"
import * as Html from "./Html.ts"

/**
 * Digits, also in pairs or two groups or after the sender's letter (`G-493027`), or one or two groups of capital letters and
 * digits; not a part of a longer number or word.
 */
const CANDIDATE =
  /(?<![\w#$€£.,:/-])(?:[A-Z]-)?(?:\d{4,8}|\d{2}(?:[ -]\d{2}){2,3}|\d{3}[ -]\d{3}|\d{4}[ -]\d{4}|(?=[A-Z]*\d)(?=\d*[A-Z])[A-Z\d]{5,10}|(?=[A-Z-]*\d)(?=[\d-]*[A-Z])[A-Z\d]{3,5}-[A-Z\d]{3,5})(?![\w%/]|[.,:-]\d)/gu
const WORDS = /\b(?:codes?|pin|otp|passcode|password|token|verification)\b/iu
/** Characters before a code in which a word says that it is one. */
const REACH = 80
const URLS = /https?:\/\/\S+/gu

/**
 * Returns the one-time code of a message, without spaces and hyphens: the one after a word such as "code", else the only
 * candidate. `pattern` finds codes of another form; its first group, or its whole, is the code.
 */
export const findCode = (message: Readable, pattern?: RegExp): string => {
  const body = message.html === null ? (message.text ?? "") : Html.read(message.html).text
  if (pattern !== undefined) {
    const found = new RegExp(pattern.source, pattern.flags.replace("g", "")).exec(body)
    const code = found?.[1] ?? found?.[0]
    if (code !== undefined) return code
    throw new Error(`"${message.subject}" has nothing like ${pattern}. Its text:\n${body.trim()}`)
  }
  const text = `${message.subject}\n${body.replace(URLS, " ")}`
  const all = [...text.matchAll(CANDIDATE)]
  const named = all.filter(({ index }) => WORDS.test(text.slice(Math.max(0, index - REACH), index)))
  const codes = new Set(
    (named.length > 0 ? named : all).map(([code]) => code.replace(/^[A-Z]-/u, "").replaceAll(/[ -]/gu, "")),
  )
  const [code] = codes
  if (code !== undefined && codes.size === 1) return code
  const problem = codes.size === 0 ? "no code" : `several candidates for a code: ${[...codes].join(", ")}`
  throw new Error(`"${message.subject}" has ${problem}. Give a pattern. Its text:\n${body.trim()}`)
}
