import * as Email from "@waybill/domain/email/Email"
import type { Statement } from "effect/sql"
import * as IdKey from "../../postgres/IdKey.ts"
import { ifAny } from "../../log/BatchTable.ts"
import * as ReadModel from "../ReadModel.ts"
import * as TermKey from "../../postgres/TermKey.ts"
import type { Client, Sql } from "../../postgres/Sql.ts"

const ASCII = /^[\u0020-\u007e]*$/u
/**
 * First letters of the encoding: a code point beyond ASCII becomes one letter of Q to Z and four of A to P. Folded
 * ASCII has no capitals.
 */
const HIGH = 0x51
const LOW = 0x41
const LOW_DIGITS = 4

/**
 * Folds a subject for search: composed, lower case, and each character beyond ASCII encoded in letters. Encodings begin
 * with a letter that occurs nowhere else, so a part of a text matches exactly if its encoding is a part of the text's
 * encoding.
 */
export const fold = (subject: string): string => {
  // Nearly all subjects are ASCII.
  if (ASCII.test(subject)) return subject.toLowerCase()
  // A final sigma differs from a sigma within a word, which would hide parts of a word.
  const lower = subject.normalize("NFC").toLowerCase().replaceAll("ς", "σ")
  if (ASCII.test(lower)) return lower
  let folded = ""
  for (const character of lower)
    folded += ASCII.test(character) ? character : encodeCharacter(character.codePointAt(0) ?? 0)
  return folded
}

const encodeCharacter = (codePoint: number): string => {
  let low = ""
  let remaining = codePoint
  for (let digit = 0; digit < LOW_DIGITS; digit++) {
    low = String.fromCharCode(LOW + (remaining & 15)) + low
    remaining >>= 4
  }
  // Planes 10 to 16 share letters with lower planes; they hold no written characters.
  return String.fromCharCode(HIGH + (remaining % 10)) + low
}

/** Returns a text with small ASCII letters. */
export const lowerAscii = (text: string): string => text.replace(/[A-Z]+/gu, (letters) => letters.toLowerCase())

/** Returns a LIKE pattern that finds a folded part anywhere. */
export const pattern = (folded: string): string => `%${folded.replace(/[\\%_]/gu, "\\$&")}%`

/** Returns the search key shared by all messages with this subject. */
export const keyOf = (subject: string): TermKey.TermKey => keyOfFolded(fold(subject))

const keyOfFolded = (folded: string): TermKey.TermKey => TermKey.of(`subject:${folded}`)

interface Row {
  readonly account_id: string
  readonly term: TermKey.TermKey
  readonly folded: string
}

export const row = (account_id: string, subject: string): Row => {
  const folded = fold(subject)
  return { account_id, term: keyOfFolded(folded), folded }
}

const model = ReadModel.make({
  name: "email_subjects",
  stream: Email.stream,
  key: ["account_id", "term"],
  changes: [],
  isShared: true,
  types: { account_id: "AccountId", term: "bigint", folded: "text" },
  rows: ({ account_id }, state: Email.State) =>
    state._tag === "NotCreated" ? [] : [row(account_id, state.accepted.subject)],
})

export const readModel: typeof model = {
  ...model,
  write: (sql, batch) =>
    batch.isPerTable
      ? { simple: ifAny(ReadModel.rowsOf(model, batch.changedStreams), (rows) => insertPerTable(sql, rows)) }
      : model.write(sql, batch),
}

/** Writes few rows by a statement whose plan is kept where there is one per table (`TablePlace`). */
const insertPerTable = (sql: Client<unknown>, rows: ReadonlyArray<Row>): Statement.Fragment => {
  const sorted = rows.toSorted((a, b) => (isBefore(a, b) ? -1 : 1))
  // The last row is repeated up to a power of two, so that there are few statements to keep plans of.
  const last = sorted.slice(-1)
  while (Math.log2(sorted.length) % 1 !== 0) sorted.push(...last)
  const values = sorted.map(
    ({ account_id, folded, term }) => sql`(${IdKey.of(account_id)}::uuid, ${term}::bigint, ${folded}::text)`,
  )
  return sql`
    INSERT INTO email_subjects (account_id, term, folded) VALUES ${sql.csv(values)} ON CONFLICT (account_id, term) DO NOTHING`
}

const isBefore = (a: Row, b: Row): boolean =>
  a.account_id === b.account_id ? a.term < b.term : a.account_id < b.account_id

/**
 * Three ASCII letters or digits in a row, which a trigram index can look up; a part without them would require a full
 * scan.
 */
const THREE_LETTERS = /[0-9A-Za-z]{3}/u
/**
 * Digits of a long number, which identifies a subject better than its words. Four digits may be a year; more than eight
 * are not needed.
 */
const DIGITS = /[0-9]{5,8}/gu

/** Whether the index can look up a folded part. */
export const isIndexed = (folded: string): boolean => THREE_LETTERS.test(folded)

/**
 * Selects the keys of an account's subjects that contain a folded part. If the part contains a long number, only the
 * number is looked up: the words around it belong to a template that most subjects share.
 */
export const withPart = (sql: Sql, account: IdKey.IdKey, folded: string): Statement.Fragment => {
  const numbers = [...folded.matchAll(DIGITS)].map(([digits]) => digits).sort((a, b) => b.length - a.length)
  return sql`SELECT term FROM email_subjects
    WHERE account_id = ${account}::uuid AND folded LIKE ${pattern(numbers[0] ?? folded)} AND strpos(folded, ${folded}) > 0`
}
