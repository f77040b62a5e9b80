import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Clock, Effect } from "effect"
import type { OutboxRow } from "../outbox/OutboxRow.ts"
import type { StreamRef } from "../log/StreamRef.ts"
import * as DueWork from "../outbox/DueWork.ts"
import * as DueRows from "../outbox/DueRows.ts"
import * as Outbox from "../outbox/Outbox.ts"
import * as LogReads from "../feed/LogReads.ts"
import * as EmailFacets from "../readmodels/emails/EmailFacets.ts"
import { aggregateOf } from "../log/aggregateOf.ts"
import * as RecordedEvents from "../log/RecordedEvents.ts"
import type { Sql } from "../postgres/Sql.ts"

/** Histories folded at a time. */
const PAGE_STREAMS = 500

/**
 * Restores the outbox of an imported log: due work follows from the histories, as in the commits that wrote them.
 * Unfinished mail gets a row too. Its content is not part of the log, so its delivery fails with that reason instead of
 * waiting forever.
 */
export const rearm = Effect.fn("Rearm.rearm")((sql: Sql) => sql.withTransaction(insertRows(sql)))

const insertRows = Effect.fnUntraced(function* (sql: Sql) {
  // If a service is running against this database after all, rows of what it accepts meanwhile must not be deleted
  // below.
  yield* sql`LOCK TABLE events IN SHARE ROW EXCLUSIVE MODE`
  const now = Timestamp.fromMillis(yield* Clock.currentTimeMillis)
  const refs = yield* sql<StreamRef>`
    SELECT account_id, id AS stream_id FROM domains WHERE NOT removed
    UNION ALL SELECT account_id, id FROM test_clocks WHERE removed OR record ->> 'status' = 'advancing'
    UNION ALL SELECT id_of('acc', account_id), id_of('msg', id) FROM email_log l
    WHERE ${EmailFacets.haveRecipient(sql, "l", ["queued", "deferred"])}`
  const armed: Array<string> = []
  for (let from = 0; from < refs.length; from += PAGE_STREAMS) {
    const rows = yield* rowsOf(sql, refs.slice(from, from + PAGE_STREAMS), now)
    if (rows.length > 0) yield* DueRows.arm(sql, rows, now)
    armed.push(...rows.map(({ id }) => id))
  }
  // A resumed import may have brought the end of work that an earlier run inserted rows for.
  const ended = sql`
    SELECT o.id FROM outbox o WHERE kind IN ('delivery', 'domain_check', 'test_clock')
      AND NOT EXISTS (SELECT FROM unnest(${armed}::text[]) AS armed(id) WHERE armed.id = o.id)`
  yield* Outbox.settle(sql, ended)
  return armed.length
})

const rowsOf = Effect.fnUntraced(function* (sql: Sql, refs: ReadonlyArray<StreamRef>, now: string) {
  const streams = yield* LogReads.readStreams(sql, refs)
  return [...streams.values()].flatMap((stored): ReadonlyArray<OutboxRow> => {
    const [first] = stored
    if (first === undefined) return []
    const aggregate = aggregateOf(first.stream)
    const history = stored.map((each) => RecordedEvents.decode(aggregate, each))
    const { account_id, stream_id } = first
    const state = RecordedEvents.fold(aggregate, history)
    const row = DueWork.nextWork({ account_id, stream_id, aggregate, version: history.length, state, added: [] }, now)
    return row === "none" || row === undefined ? [] : [row]
  })
})
