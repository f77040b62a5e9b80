import type { PgClient } from "@effect/sql-pg"
import * as Account from "@waybill/domain/account/Account"
import * as Email from "@waybill/domain/email/Email"
import { Effect } from "effect"
import * as Feed from "../feed/Feed.ts"
import * as RetentionCutoff from "../feed/RetentionCutoff.ts"
import { MAX_FEED_PAGE } from "../commit/LogStorage.ts"
import * as LogFile from "./LogFile.ts"

/**
 * Whether a file that ends with this event belongs to this log: the event exists, or retention removed its history.
 * False for a file of another instance, and if the database was restored to an earlier state.
 */
export const belongs = Effect.fn("LogExport.belongs")(
  function* (sql: PgClient.PgClient, last: LogFile.Entry) {
    const [event] = yield* sql<{ readonly event_id: string }>`
      SELECT event_id FROM events WHERE position = ${last.position}::bigint`
    if (event !== undefined) return event.event_id === last.event_id
    const cutoffs = yield* RetentionCutoff.all(sql)
    const before = cutoffs.find(({ account_id }) => account_id === last.account_id)?.before ?? ""
    return last.stream === Email.stream && last.recorded_at < before
  },
  (look) => Effect.orDie(look),
)

/** Whether an address was erased since: erasure changes events of the file, and renames a stream. */
export const isErasedSince = Effect.fn("LogExport.isErasedSince")(
  function* (sql: PgClient.PgClient, last: LogFile.Entry) {
    const erasures = yield* sql`
      SELECT 1 AS found FROM events
      WHERE position > ${last.position}::bigint AND stream = ${Account.stream} AND type = ${ERASED} LIMIT 1`
    return erasures.length > 0
  },
  (look) => Effect.orDie(look),
)

const ERASED: Account.Event["_tag"] = "AddressErased"

/**
 * Returns the position up to which an export that begins now goes. Read before anything else, so that a later erasure
 * is behind it and resuming the file detects it.
 */
export const end = Effect.fn("LogExport.end")((sql: PgClient.PgClient) => Effect.orDie(Feed.settled(sql)))

/** Continues the chain up to `end` and completes it, passing the text of each page to `append`. */
export const write = Effect.fn("LogExport.write")(function* (
  sql: PgClient.PgClient,
  chain: LogFile.Chain,
  end: bigint,
  append: (text: string) => Effect.Effect<void>,
) {
  let after = BigInt(chain.position)
  while (after < end) {
    const { events, upTo } = yield* Effect.orDie(Feed.read(sql, { after, limit: MAX_FEED_PAGE }))
    const lines = events.filter(({ position }) => position <= end).map((event) => chain.line(LogFile.entryOf(event)))
    if (lines.length > 0) yield* append(lines.join(""))
    after = upTo
  }
  yield* append(chain.end())
})
