import type { AccountId, InboundId } from "@waybill/domain/values/Id"
import { Effect, Option, Semaphore } from "effect"
import type { Fragment } from "effect/sql/Statement"
import { setImmediate } from "node:timers/promises"
import * as PackedSql from "../packed/PackedSql.ts"
import * as AccountWrites from "../locks/AccountWrites.ts"
import type { BatchTable } from "../log/BatchTable.ts"
import * as Arrays from "../postgres/Arrays.ts"
import { Sql, type Client } from "../postgres/Sql.ts"

/**
 * Bytes of one row. A larger mail has more rows, whose ids are its own, a slash and a number: the driver would need a tenth of
 * a second to encode 25 MiB, and the commits of others would wait for Postgres to store them.
 */
export const PIECE_BYTES = 1024 * 1024
/** Mails whose pieces are written at a time; each takes a connection. */
const STAGED_AT_ONCE = 2
/** Rows that one statement of the expiry removes. */
export const EXPIRY_BATCH = 200

/** A received mail as it came. */
export interface InboundRow {
  readonly account_id: AccountId
  readonly id: InboundId
  readonly bytes: Uint8Array
  /** Time until which the bytes are kept. */
  readonly expires_at: string
}

const pieceOf = (id: string, nth: number): string => (nth === 0 ? id : `${id}/${String(nth).padStart(4, "0")}`)
const bytesOf = (bytes: Uint8Array, nth: number): Uint8Array =>
  bytes.subarray(nth * PIECE_BYTES, (nth + 1) * PIECE_BYTES)
const staging = Semaphore.makeUnsafe(STAGED_AT_ONCE)

/**
 * Writes all of a large mail but its first piece ahead of its commit. What is not committed within a day expires.
 */
export const stage = Effect.fn("InboundContent.stage")(function* (
  account_id: AccountId,
  id: InboundId,
  bytes: Uint8Array,
) {
  const pieces = Math.ceil(bytes.length / PIECE_BYTES)
  if (pieces <= 1) return
  const sql = yield* Sql
  const write = Effect.gen(function* () {
    for (let nth = 1; nth < pieces; nth++) {
      const piece = bytesOf(bytes, nth)
      yield* sql`
        INSERT INTO inbound_content (account_id, id, size_bytes, bytes, expires_at)
        VALUES (${account_id}, ${pieceOf(id, nth)}, ${piece.length}::int, ${piece}, now() + interval '1 day')`
    }
  })
  yield* staging.withPermits(1)(AccountWrites.run(account_id, sql.withTransaction(write)))
})

/** Expressions of the statement of a batch: the first piece of each mail, and the time of the pieces written ahead. */
const inserts = (sql: Client<unknown>, rows: ReadonlyArray<InboundRow>): ReadonlyArray<Fragment> => {
  if (rows.length === 0) return []
  const staged = rows.filter(({ bytes }) => bytes.length > PIECE_BYTES)
  const insert = sql`
    INSERT INTO inbound_content (account_id, id, size_bytes, bytes, expires_at)
    SELECT * FROM unnest(${Arrays.texts(rows.map((row) => row.account_id))}, ${Arrays.texts(rows.map((row) => row.id))},
      ${Arrays.ints(rows.map((row) => row.bytes.length))}, ${Arrays.byteas(rows.map((row) => bytesOf(row.bytes, 0)))},
      ${Arrays.texts(rows.map((row) => row.expires_at))}::timestamptz[])
    RETURNING 1 AS written`
  const keep = (row: InboundRow) => sql`
    UPDATE inbound_content SET expires_at = ${row.expires_at}::timestamptz
    WHERE account_id = ${row.account_id} AND ${isPiece(sql, row.id)} RETURNING 1 AS written`
  return [insert, ...staged.map(keep)]
}

/** Received mail as it came. */
export const table: BatchTable<InboundRow> = {
  write: (sql, { rows }) => ({ expressions: inserts(sql, rows.of(table)) }),
}

/** The ids of pieces follow that of their mail, and the digit 0 follows a slash. */
const isPiece = (sql: Client<unknown>, id: string): Fragment => sql`id > ${`${id}/`} AND id < ${`${id}0`}`

/** Returns a mail as it came; none if it is no longer kept. */
export const find = (account_id: string, id: string) =>
  Effect.flatMap(Sql, (sql) => findOf(sql, account_id, id)).pipe(Effect.withSpan("InboundContent.find"))

/** Whether a mail is kept as it came. */
export const isKept = Effect.fn("InboundContent.isKept")(function* (account_id: string, id: string) {
  const sql = yield* Sql
  return (yield* sql`SELECT FROM inbound_content WHERE account_id = ${account_id} AND id = ${id}`).length > 0
})

export const findOf = Effect.fnUntraced(function* (sql: Sql, account_id: string, id: string) {
  const pieces: Array<Uint8Array> = []
  for (let nth = 0, left = 1; left > 0; nth++) {
    const [row] = yield* sql<{ readonly size_bytes: number; readonly bytes: Uint8Array }>`
      SELECT size_bytes, bytes FROM inbound_content WHERE account_id = ${account_id} AND id = ${pieceOf(id, nth)}`
    if (row === undefined) return Option.none<Uint8Array>()
    left = (nth === 0 ? row.size_bytes : left) - row.bytes.length
    pieces.push(row.bytes)
  }
  return Option.some<Uint8Array>(pieces.length === 1 ? (pieces[0] as Uint8Array) : yield* joined(pieces))
})

/** Joins pieces, with a turn for other work after each. */
const joined = Effect.fnUntraced(function* (pieces: ReadonlyArray<Uint8Array>) {
  const whole = Buffer.allocUnsafe(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
    yield* Effect.promise(() => setImmediate())
  }
  return whole
})

export const remove = Effect.fn("InboundContent.remove")(function* (account_id: AccountId, id: InboundId) {
  const sql = yield* Sql
  yield* AccountWrites.run(account_id, removeOf(sql, account_id, [id]))
})

/** Removes the bytes of mails that are deleted, removed or erased. */
export const removeOf = (sql: Sql, account_id: string, ids: ReadonlyArray<string>) =>
  sql`
    DELETE FROM inbound_content USING unnest(${ids}::text[]) AS mail(id)
    WHERE account_id = ${account_id} AND (inbound_content.id = mail.id
      OR (inbound_content.id COLLATE "C" > mail.id || '/' AND inbound_content.id COLLATE "C" < mail.id || '0'))`

/** Removes expired mail, except that whose forwards are still to be delivered, and returns how many. Runs periodically. */
export const expire = Effect.fn("InboundContent.expire")(function* () {
  const sql = yield* Sql
  let removed = 0
  for (let done = -1; done !== 0; removed += Math.max(done, 0)) {
    // A forward may be accepted between two batches.
    const needed = yield* awaited(
      sql,
      sql`AND o.account_id IN (SELECT account_id FROM inbound_content WHERE expires_at < now())`,
    )
    done = (yield* sql`
      DELETE FROM inbound_content WHERE (account_id, id) IN (
        SELECT account_id, id FROM inbound_content
        WHERE expires_at < now() AND split_part(id, '/', 1) <> ALL(${needed}::text[]) LIMIT ${EXPIRY_BATCH}::int) RETURNING id`)
      .length
  }
  return removed
})

/** Returns the mails whose forwards are still to be delivered, perhaps only some of them. */
export const awaited = (sql: Sql, which: Fragment = sql.literal("")) =>
  Effect.map(
    sql<{ readonly id: string }>`
      SELECT DISTINCT forwards.id
      FROM outbox o JOIN events e ON e.account_id = o.account_id AND e.stream_id = o.stream_id AND e.version = 1
      CROSS JOIN LATERAL (SELECT ${PackedSql.field(sql, "e", "EmailQueued", "forward_of")} AS id) AS forwards
      WHERE o.kind = 'delivery' AND forwards.id IS NOT NULL ${which}`,
    (rows) => rows.map(({ id }) => id),
  )
