// The rows of Waybill for a message, written in one statement for each batch.
import { hash } from "node:crypto"
import { zstdCompressSync } from "node:zlib"
import * as PgArray from "./PgArray.ts"

export interface Message {
  readonly id: string
  readonly createdAt: string
  readonly from: string
  readonly to: string
  readonly replyTo: string
  readonly subject: string
  readonly headers: Readonly<Record<string, string>>
  readonly html: string
  readonly text: string
  readonly domain: string
}

export interface Accepted {
  readonly message: Message
  readonly tags: ReadonlyArray<string>
  /** The body as it is stored, and the hash of the plain one. */
  readonly body: Uint8Array
  readonly hash: Buffer
}

/** Digits of a message's key, which are also its id: a time, a number, and what distinguishes processes. */
const digits = (value: number, length: number): string => value.toString(16).padStart(length, "0")
const PROCESS = digits(process.pid % 0x100_0000, 6)
const KEY_END = "000000"
const PREFIX = "msg_"
let number = 0

/** Time-ordered, and as long as Waybill's. */
export const newId = (): string => `${PREFIX}${digits(Date.now(), 12)}${digits(++number, 8)}${PROCESS}`
const keyOf = (id: string): string => id.slice(PREFIX.length) + KEY_END

const sha256 = (text: string): Buffer => hash("sha256", text, "buffer")

export const accepted = (message: Message, tags: ReadonlyArray<string>): Accepted => {
  const plain = Buffer.from(JSON.stringify({ html: message.html, text: message.text }))
  return { message, tags, body: zstdCompressSync(plain), hash: hash("sha256", plain, "buffer") }
}

const packed = ({ hash, message, tags }: Accepted): string =>
  `\tkey\t\t\t\t\t${message.createdAt}\t${message.from}\t${message.to}\t\t\t${message.replyTo}\t${message.subject}\t` +
  `${JSON.stringify(message.headers)}\t${JSON.stringify(tags)}\t\t${message.domain}\tdom\t\t\t\t${hash.toString("hex")}ht\t2000\t\t\t\t\t\t`

/** Columns of new rows besides their account, as `columnsOf` returns them, and their parameters from `$first` on. */
export const COLUMNS = "id, key, packed, hash, body, subject_key, to_key, subject"
const TYPES = ["text", "uuid", "text", "bytea", "bytea", "bigint", "bigint", "text"]
export const parametersFrom = (first: number): string =>
  TYPES.map((type, nth) => `$${first + nth}::${type}[]`).join(", ")

export const columnsOf = (rows: ReadonlyArray<Accepted>): ReadonlyArray<Buffer> => [
  PgArray.texts(rows.map(({ message }) => message.id)),
  PgArray.uuids(rows.map(({ message }) => keyOf(message.id))),
  PgArray.texts(rows.map(packed)),
  PgArray.byteas(rows.map(({ hash }) => hash)),
  PgArray.byteas(rows.map(({ body }) => body)),
  PgArray.bigints(rows.map(({ message }) => sha256(message.subject))),
  PgArray.bigints(rows.map(({ message }) => sha256(message.to))),
  PgArray.texts(rows.map(({ message }) => message.subject.toLowerCase())),
]

/**
 * Statement that inserts the rows that Waybill inserts for each message. `source` are parts of it, of which `new` has the
 * columns above and `account_id` and `account_key`.
 */
export const inserting = (source: string, main: string): string => `
  WITH ${source}, event AS (
    INSERT INTO events (account_id, stream_id, version, stream, type, event_id, packed, recorded_at)
    SELECT account_id, id, 1, 'email', 'EmailQueued', id, packed, now() FROM new
  ), content AS (
    INSERT INTO content (account_id, sha256, bytes, compressed, expires_on, uses)
    SELECT account_id, hash, body, true, current_date + 30, 1 FROM new ON CONFLICT DO NOTHING
  ), logged AS (
    INSERT INTO email_log (account_id, id, from_key, subject_key, to_key, tag_key, domain_key, version, status)
    SELECT account_key, key, 1, subject_key, to_key, 2, 3, 1, 0 FROM new
  ), term AS (
    INSERT INTO email_log_terms (account_id, term, email_id) SELECT account_key, 4, key FROM new
  ), subject AS (
    INSERT INTO email_subjects (account_id, term, folded) SELECT account_key, subject_key, subject FROM new
    ON CONFLICT DO NOTHING
  ), usage AS (
    INSERT INTO monthly_usage AS u (account_id, month, accepted)
    SELECT account_id, to_char(now(), 'YYYY-MM'), count(*) FROM new GROUP BY 1
    ON CONFLICT (account_id, month) DO UPDATE SET accepted = u.accepted + excluded.accepted
  ), armed AS (
    INSERT INTO outbox (id, account_id, kind, stream_id, available_at, ready, payload)
    SELECT id, account_id, 'delivery', id, now(), true, '{}' FROM new
  ) ${main}`

/** Columns of the accounts of rows. */
export const ownersOf = (ids: ReadonlyArray<string>, keys: ReadonlyArray<string>): ReadonlyArray<Buffer> => [
  PgArray.texts(ids),
  PgArray.uuids(keys),
]
