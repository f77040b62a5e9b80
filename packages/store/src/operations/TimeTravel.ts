import * as Email from "@waybill/domain/email/Email"
import type { AccountId } from "@waybill/domain/values/Id"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import { Effect, Option } from "effect"
import * as Reachable from "../routing/Reachable.ts"
import * as EmailLogRecord from "../readmodels/emails/EmailLogRecord.ts"
import * as Feed from "../feed/Feed.ts"
import * as RecordedEvents from "../log/RecordedEvents.ts"
import * as PackedEvent from "../packed/PackedEvent.ts"
import { Sql } from "../postgres/Sql.ts"

/** A stream as it was at one point in time. */
export interface History {
  readonly account_id: AccountId
  readonly stream: string
  readonly stream_id: string
  readonly events: ReadonlyArray<RecordedEvents.Stored>
}

/**
 * Returns the events recorded until then. The history ends at the first later event, so that it has no holes when the
 * clocks of nodes differ.
 */
const until = (
  events: ReadonlyArray<RecordedEvents.Stored>,
  as_of: Timestamp.Timestamp | undefined,
): ReadonlyArray<RecordedEvents.Stored> => {
  const [first] = events
  if (first === undefined || as_of === undefined) return events
  const later = events.findIndex(
    ({ recorded_at }) => (recorded_at === first.recorded_at ? createdAt(first) : recorded_at) > as_of,
  )
  return later < 0 ? events : events.slice(0, later)
}

/** Returns when a message was requested: its `created_at`, a moment before it was recorded in the log. */
const createdAt = ({ data, recorded_at, type }: RecordedEvents.Stored): string => {
  const created_at = type === "EmailQueued" ? data["created_at"] : undefined
  return typeof created_at === "string" && created_at < recorded_at ? created_at : recorded_at
}

/** Returns every stream with this id, in all cells that answer: several accounts may suppress the same address. */
export const streams = Effect.fn("TimeTravel.streams")(function* (stream_id: string, as_of?: Timestamp.Timestamp) {
  const sql = yield* Sql
  // Joined with the accounts, because every key of the log begins with one.
  const search = sql<PackedEvent.Row>`
    SELECT e.* FROM accounts a
    CROSS JOIN LATERAL (VALUES (a.account_id), (test_account_of(a.account_id))) AS mode(account_id)
    CROSS JOIN LATERAL (
      SELECT ${Feed.columns(sql)} FROM events WHERE account_id = mode.account_id AND stream_id = ${stream_id}
    ) AS e
    ORDER BY e.account_id, e.version`
  const { rows, unreachable } = yield* Reachable.rowsOf(search)
  const byAccount = Map.groupBy(rows.map(PackedEvent.open), ({ account_id, stream }) => `${account_id} ${stream}`)
  const histories = [...byAccount.values()].flatMap((all): ReadonlyArray<History> => {
    const events = until(all, as_of)
    const [first] = events
    if (first === undefined) return []
    const { account_id, stream } = first
    return [{ account_id, stream, stream_id, events: events.map(RecordedEvents.inCurrentShape) }]
  })
  return { histories, unreachable }
})

/** Returns the log record of a message at that time, by the same fold over the events until then. */
export const email = Effect.fn("TimeTravel.email")(function* (
  account_id: AccountId,
  id: string,
  as_of: Timestamp.Timestamp,
) {
  const sql = yield* Sql
  const rows = yield* sql<PackedEvent.Row>`
    SELECT ${Feed.columns(sql)} FROM events WHERE account_id = ${account_id} AND stream_id = ${id} AND stream = ${Email.stream} ORDER BY version`
  const history = until(rows.map(PackedEvent.open), as_of).map((row) => RecordedEvents.decode(Email, row))
  const state = RecordedEvents.fold(Email, history) as Email.State
  return state._tag === "NotCreated" ? Option.none() : Option.some(EmailLogRecord.of(state, history.length))
})
