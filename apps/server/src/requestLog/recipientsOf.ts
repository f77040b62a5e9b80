import * as Address from "@waybill/domain/values/Address"
import * as RequestRecipients from "@waybill/store/requests/RequestRecipients"
import { Result } from "effect"

/** Bytes of a body in which recipients are looked for, so that megabytes of attachments cost nothing. */
export const MAX_SEARCHED_BYTES = 64 * 1024

/** A field with recipients, in the APIs that Waybill speaks: a text, or a list of texts or of objects with texts. */
const FIELD = /"(?:to|cc|bcc)"\s*:\s*("(?:[^"\\]|\\.)*"|\[(?:[^"\]]|"(?:[^"\\]|\\.)*")*)/giu
const TEXT = /"(?:[^"\\]|\\.)*"/gu
const WORD = /[^\s"<>(),;:]+/gu
/** Words that are read as addresses. */
const MAX_TRIES = 4 * RequestRecipients.MAX_RECIPIENTS

const textOf = (quoted: string): string => {
  try {
    return JSON.parse(quoted) as string
  } catch {
    return ""
  }
}

/** Returns the keys of the first recipients that a body names, whether or not it is valid; `null` if it names none. */
export const recipientsOf = (account_id: string, body: Uint8Array): ReadonlyArray<bigint> | null => {
  const text = Buffer.from(body.buffer, body.byteOffset, Math.min(body.byteLength, MAX_SEARCHED_BYTES)).toString("utf8")
  const found = new Set<bigint>()
  let tries = 0
  for (const [, value = ""] of text.matchAll(FIELD))
    for (const [quoted] of value.matchAll(TEXT))
      for (const [word] of textOf(quoted).matchAll(WORD)) {
        if (word.length > Address.MAX_ADDRESS_OCTETS || !word.includes("@")) continue
        const parsed = Address.parseAddress(word)
        if (Result.isSuccess(parsed)) found.add(RequestRecipients.keyOf(account_id, parsed.success))
        if (found.size === RequestRecipients.MAX_RECIPIENTS || ++tries === MAX_TRIES) return [...found]
      }
  return found.size === 0 ? null : [...found]
}
