import type { PgClient } from "@effect/sql-pg"
import * as Email from "@waybill/domain/email/Email"
import { createHash } from "node:crypto"
import type { ReadModel } from "../readmodels/ReadModel.ts"

const ASCII = /^[\u0020-\u007e]*$/u
/** Five letters a code point beyond ASCII: one of Q to Z, four of A to P. Folded ASCII has no capitals. */
const HIGH = 0x51
const LOW = 0x41
const LOW_DIGITS = 4

/**
 * A subject as it is searched: composed, in lower case, and each character beyond ASCII spelt in letters. That a part
 * of the text is a part of its spelling, and nothing else is, holds because a spelling begins with a letter that
 * occurs nowhere else in it.
 */
export const fold = (subject: string): string => {
  // What nearly all subjects are.
  if (ASCII.test(subject)) return subject.toLowerCase()
  // The last letter of a Greek word has a form of its own, which a part of the word does not.
  const lower = subject.normalize("NFC").toLowerCase().replaceAll("ς", "σ")
  if (ASCII.test(lower)) return lower
  let folded = ""
  for (const character of lower) folded += ASCII.test(character) ? character : spell(character.codePointAt(0) ?? 0)
  return folded
}

const spell = (codePoint: number): string => {
  let low = ""
  let rest = codePoint
  for (let digit = 0; digit < LOW_DIGITS; digit++) {
    low = String.fromCharCode(LOW + (rest & 15)) + low
    rest >>= 4
  }
  // Planes 10 to 16 share letters with lower ones; they hold nothing that is written.
  return String.fromCharCode(HIGH + (rest % 10)) + low
}

/** As a LIKE pattern that finds a folded part anywhere. */
export const pattern = (folded: string): string => `%${folded.replace(/[\\%_]/gu, "\\$&")}%`

/** What all messages with this subject are found by, among the terms of the log. */
export const term = (subject: string): string => termOf(fold(subject))

const termOf = (folded: string): string =>
  `subject:${createHash("sha256").update(folded).digest("base64url").slice(0, 22)}`

interface Row {
  readonly account_id: string
  readonly term: string
  readonly folded: string
}

export const readModel: ReadModel = {
  name: "email_subjects",
  stream: Email.stream,
  key: ["account_id", "term"],
  isStatic: true,
  isShared: true,
  rows: ({ account_id }, state) => {
    const message = state as Email.State
    if (message._tag === "Unborn") return []
    const folded = fold(message.accepted.subject)
    return [{ account_id, term: termOf(folded), folded } satisfies Row]
  },
  // The one table whose rows belong to several streams: in one order, so that two commits with the same new subjects
  // wait for each other and never in a ring.
  write: (sql, rows, table = "email_subjects") => sql`
    INSERT INTO ${sql(table)} (account_id, term, folded)
    SELECT * FROM unnest(${rows.map((row) => (row as Row).account_id)}::text[],
      ${rows.map((row) => (row as Row).term)}::text[], ${rows.map((row) => (row as Row).folded)}::text[])
      AS new(account_id, term, folded) ORDER BY account_id, term
    ON CONFLICT (account_id, term) DO NOTHING`,
}

/** What an index of three letters can be asked for: in a part without any it would have to be read as a whole. */
const THREE_LETTERS = /[0-9A-Za-z]{3}/u
/** A number that tells one subject from most others, as a year does not; of a long one so many digits are enough. */
const DIGITS = /[0-9]{5,8}/gu

/** Whether a folded part can be looked up at all. */
export const isIndexed = (folded: string): boolean => THREE_LETTERS.test(folded)

/**
 * The subjects of an account that hold a folded part, as terms of the log. Where there is a long number in it, the index is
 * asked for the number alone: the words around it are those of a template, in lists as long as all mail.
 */
export const termsWith = (sql: PgClient.PgClient, account_id: string, folded: string, limit: number) => {
  const numbers = [...folded.matchAll(DIGITS)].map(([digits]) => digits).sort((a, b) => b.length - a.length)
  return sql<{ readonly term: string }>`
    SELECT term FROM email_subjects
    WHERE account_id = ${account_id} AND folded LIKE ${pattern(numbers[0] ?? folded)} AND strpos(folded, ${folded}) > 0
    ORDER BY account_id, term LIMIT ${limit}::int`
}
