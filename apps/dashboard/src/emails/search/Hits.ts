import * as RecipientPart from "@waybill/domain/search/RecipientPart"
import { shownFirst } from "@waybill/domain/search/shownFirst"
import * as HiddenCharacters from "@waybill/domain/values/HiddenCharacters"
import type { Email } from "../../api/Records.ts"
import type { EmailFilters } from "./EmailFilters.ts"

/** Parts that a search looks for, by the fields of an email that may have them. */
export interface Parts {
  readonly metadata: ReadonlyArray<string>
  readonly recipient: ReadonlyArray<string>
  readonly sender: ReadonlyArray<string>
  readonly subject: ReadonlyArray<string>
  readonly tag: ReadonlyArray<string>
  readonly id: ReadonlyArray<string>
}
export type Field = keyof Parts

const QUOTED = /"([^"]+)"/gu
const given = (value: string | undefined): ReadonlyArray<string> => (value === undefined ? [] : [value])

export const partsOf = ({ domain, from, q = "", recipient, subject, tag = [], to }: EmailFilters): Parts => {
  const words = [...q.matchAll(QUOTED)].flatMap(([, word]) => given(word))
  return {
    recipient: [...words, ...given(recipient && RecipientPart.of(recipient).text), ...given(to)],
    sender: [...words, ...given(from), ...given(domain)],
    subject: [...words, ...given(subject)],
    tag: [...words, ...tag],
    metadata: words,
    id: words,
  }
}

/** A piece of a text, which is a hit if the search found it. */
export interface Piece {
  readonly text: string
  readonly isHit: boolean
}

/** Folds a character as the search of the API does. */
const foldCharacter = (character: string): string => character.toLowerCase().replaceAll("ς", "σ")
const fold = (text: string): string => Array.from(text.normalize("NFC"), foldCharacter).join("")

/** Splits a text into what was found and what is around it. Characters that cannot be seen are shown by their names. */
export const piecesOf = (text: string, parts: ReadonlyArray<string>): ReadonlyArray<Piece> => {
  const shown = Array.from(HiddenCharacters.showHidden(text.normalize("NFC")))
  const folded = shown.map(foldCharacter)
  const whole = folded.join("")
  const hits = new Uint8Array(whole.length)
  for (const part of parts.map(fold))
    for (let at = part === "" ? -1 : whole.indexOf(part); at >= 0; at = whole.indexOf(part, at + 1))
      hits.fill(1, at, at + part.length)
  const pieces: Array<Piece> = []
  let at = 0
  for (const [nth, character] of shown.entries()) {
    const length = folded[nth]?.length ?? 0
    const isHit = hits.subarray(at, at + length).includes(1)
    at += length
    const last = pieces.at(-1)
    if (last?.isHit === isHit) pieces.splice(-1, 1, { text: last.text + character, isHit })
    else pieces.push({ text: character, isHit })
  }
  return pieces
}

/** Number of characters before a hit that fit into the narrowest column. */
const MAX_LEAD = 20
/** Number of characters that stay before a hit whose text is shortened. */
const LEAD = 8

/** Shortens what is before the first hit, so that a line that is cut at its end still shows the hit. */
export const shorten = (pieces: ReadonlyArray<Piece>): ReadonlyArray<Piece> => {
  const [first, ...others] = pieces
  if (first === undefined || first.isHit || others.length === 0) return pieces
  const characters = Array.from(first.text)
  if (characters.length <= MAX_LEAD) return pieces
  return [{ text: `…${characters.slice(-LEAD).join("")}`, isHit: false }, ...others]
}

const has = (text: string, part: string): boolean => fold(text).includes(fold(part))

/** A field with a hit that the row of an email does not show. */
export interface Hidden {
  readonly field: Field
  /** Name of the field, which is shown before its text. */
  readonly name: string
  readonly text: string
}

const recipientsOf = (email: Email) => shownFirst(email, [...email.to, ...email.cc, ...email.bcc])

export const firstRecipient = (email: Email): string => recipientsOf(email)[0] ?? ""

/**
 * Returns the fields that say why an email was found, beside the first recipient and the subject, which rows show: one
 * for each part that these do not have. Tags come last, because only narrow rows do not show them.
 */
export const hiddenOf = (email: Email, parts: Parts): ReadonlyArray<Hidden> => {
  const [first, ...others] = recipientsOf(email)
  const fields: ReadonlyArray<Hidden> = [
    { field: "sender", name: "from", text: email.from },
    ...others.map((text): Hidden => ({ field: "recipient", name: "also to", text })),
    { field: "id", name: "id", text: email.id },
    ...email.tags.map((text): Hidden => ({ field: "tag", name: "tag", text })),
    ...Object.entries(email.metadata).map(([name, text]): Hidden => ({ field: "metadata", name, text })),
  ]
  const isShown = (part: string) =>
    (parts.recipient.includes(part) && has(first ?? "", part)) ||
    (parts.subject.includes(part) && has(email.subject, part))
  const found = [...new Set(Object.values(parts).flat())].map((part) =>
    isShown(part) ? undefined : fields.find((each) => parts[each.field].includes(part) && has(each.text, part)),
  )
  return fields.filter((field) => found.includes(field))
}
