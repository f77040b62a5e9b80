import type { AccountId, InboundId } from "@waybill/domain/values/Id"
import { Effect, Option } from "effect"
import type { Fragment } from "effect/sql/Statement"
import * as AccountWrites from "../locks/AccountWrites.ts"
import * as Arrays from "../postgres/Arrays.ts"
import { Sql, type Client } from "../postgres/Sql.ts"

/** Bytes of a mail that one statement reads. The driver decodes them synchronously, in about 20 ms. */
export const SLICE_BYTES = 4 * 1024 * 1024
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

/** Part of the statement of a commit. */
export const insert = (sql: Client<unknown>, rows: ReadonlyArray<InboundRow>): Fragment => sql`
  INSERT INTO inbound_content (account_id, id, size_bytes, bytes, expires_at)
  SELECT * FROM unnest(${Arrays.texts(rows.map((row) => row.account_id))}, ${Arrays.texts(rows.map((row) => row.id))},
    ${Arrays.ints(rows.map((row) => row.bytes.length))}, ${Arrays.byteas(rows.map((row) => row.bytes))},
    ${Arrays.texts(rows.map((row) => row.expires_at))}::timestamptz[])
  RETURNING 1 AS written`

/** Returns a mail as it came; none if it is no longer kept. */
export const find = Effect.fn("InboundContent.find")(function* (account_id: string, id: string) {
  const sql = yield* Sql
  const slice = (from: number) => sql`substring(bytes FROM ${from + 1}::int FOR ${SLICE_BYTES}::int) AS bytes`
  const ofMail = sql`FROM inbound_content WHERE account_id = ${account_id} AND id = ${id}`
  const [first] = yield* sql<{ readonly size_bytes: number; readonly bytes: Uint8Array }>`
    SELECT size_bytes, ${slice(0)} ${ofMail}`
  if (first === undefined) return Option.none<Uint8Array>()
  const slices = [first.bytes]
  for (let from = SLICE_BYTES; from < first.size_bytes; from += SLICE_BYTES) {
    const [next] = yield* sql<{ readonly bytes: Uint8Array }>`SELECT ${slice(from)} ${ofMail}`
    if (next === undefined) return Option.none<Uint8Array>()
    slices.push(next.bytes)
  }
  return Option.some<Uint8Array>(slices.length === 1 ? first.bytes : Buffer.concat(slices))
})

export const remove = Effect.fn("InboundContent.remove")(function* (account_id: AccountId, id: InboundId) {
  const sql = yield* Sql
  yield* AccountWrites.run(account_id, removeOf(sql, account_id, [id]))
})

/** Removes the bytes of mails that are deleted, removed or erased. */
export const removeOf = (sql: Sql, account_id: string, ids: ReadonlyArray<string>) =>
  sql`DELETE FROM inbound_content WHERE account_id = ${account_id} AND id = ANY(${ids}::text[])`

/** Removes expired mail and returns how many. Runs periodically. */
export const expire = Effect.fn("InboundContent.expire")(function* () {
  const sql = yield* Sql
  let removed = 0
  for (let done = -1; done !== 0; removed += Math.max(done, 0)) {
    done = (yield* sql`
      DELETE FROM inbound_content WHERE (account_id, id) IN (
        SELECT account_id, id FROM inbound_content WHERE expires_at < now() LIMIT ${EXPIRY_BATCH}::int) RETURNING id`)
      .length
  }
  return removed
})
