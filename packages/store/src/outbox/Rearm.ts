import type { PgClient } from "@effect/sql-pg"
import * as DomainEvent from "@waybill/domain/stream/DomainEvent"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Clock, Effect } from "effect"
import { pending } from "../commit/Consequences.ts"
import type { OutboxRow, StreamRef } from "../commit/LogStorage.ts"
import * as Outbox from "./Outbox.ts"
import * as PostgresLogStorage from "../commit/PostgresLogStorage.ts"
import { aggregateOf } from "../rebuild/HistoryReader.ts"
import { decode, fold } from "../commit/RecordedEvents.ts"

/** Histories that are folded at a time. */
const PAGE_STREAMS = 500

/**
 * For a log that came in without its outbox: what is due follows from the histories, as it did in the commits that wrote
 * them. Mail that still waits is armed too. Its content has stayed behind, so it fails and says why, instead of waiting for ever.
 */
export const rearm = Effect.fn("Rearm.rearm")((sql: PgClient.PgClient) => Effect.orDie(sql.withTransaction(all(sql))))

const all = Effect.fnUntraced(function* (sql: PgClient.PgClient) {
  // Should a service run here after all: what it accepts meanwhile is not to be taken for something that is over.
  yield* sql`LOCK TABLE events IN SHARE ROW EXCLUSIVE MODE`
  const now = Timestamp.fromMillis(yield* Clock.currentTimeMillis)
  const refs = yield* sql<StreamRef>`
    SELECT account_id, id AS stream_id FROM domains WHERE NOT removed
    UNION ALL SELECT account_id, id FROM email_log
    WHERE EXISTS (SELECT FROM json_array_elements(record -> 'recipients') AS r WHERE r ->> 'status' IN ('queued', 'deferred'))`
  const armed: Array<string> = []
  for (let from = 0; from < refs.length; from += PAGE_STREAMS) {
    const rows = yield* rowsOf(sql, refs.slice(from, from + PAGE_STREAMS))
    if (rows.length > 0) yield* Outbox.rows(sql, rows, now)
    armed.push(...rows.map(({ id }) => id))
  }
  // An import that goes on may have brought the end of what an earlier one has armed.
  yield* sql`
    DELETE FROM outbox o WHERE kind IN ('delivery', 'domain_check')
      AND NOT EXISTS (SELECT FROM unnest(${armed}::text[]) AS armed(id) WHERE armed.id = o.id)`
  return armed.length
})

const rowsOf = Effect.fnUntraced(function* (sql: PgClient.PgClient, refs: ReadonlyArray<StreamRef>) {
  const streams = yield* PostgresLogStorage.streams(sql, refs)
  return [...streams.values()].flatMap((stored): ReadonlyArray<OutboxRow> => {
    const [first] = stored
    if (first === undefined) return []
    const aggregate = aggregateOf(first.stream)
    const history = stored.map((each) => decode(aggregate, DomainEvent, each))
    const { account_id, stream_id } = first
    const state = fold(aggregate, history)
    const row = pending({ account_id, stream_id, aggregate, version: history.length, state, added: [] })
    return row === "none" || row === undefined ? [] : [row]
  })
})
