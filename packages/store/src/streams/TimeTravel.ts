import { PgClient } from "@effect/sql-pg"
import * as DomainEvent from "@waybill/domain/stream/DomainEvent"
import * as Email from "@waybill/domain/email/Email"
import type { AccountId } from "@waybill/domain/values/Id"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import { Effect, Option } from "effect"
import * as EmailLog from "../readmodels/EmailLog.ts"
import { iso } from "../postgres/Iso.ts"
import { decode, fold, type Stored } from "../commit/RecordedEvents.ts"

/** A stream as it was at a moment. */
export interface History {
  readonly account_id: AccountId
  readonly stream: string
  readonly stream_id: string
  readonly events: ReadonlyArray<Stored>
}

/**
 * What the log held by then. Clocks of several nodes may stand a little apart, so the first fact that is recorded later
 * ends it: a history never has a hole.
 */
const until = (events: ReadonlyArray<Stored>, as_of: Timestamp.Timestamp | undefined): ReadonlyArray<Stored> => {
  const [first] = events
  if (first === undefined || as_of === undefined) return events
  const later = events.findIndex(
    ({ recorded_at }) => (recorded_at === first.recorded_at ? bornAt(first) : recorded_at) > as_of,
  )
  return later < 0 ? events : events.slice(0, later)
}

/** A message is there from its `created_at` on, which is when it was asked for; the log holds it a moment later. */
const bornAt = ({ data, recorded_at, type }: Stored): string => {
  const created_at = type === "EmailQueued" ? data["created_at"] : undefined
  return typeof created_at === "string" && created_at < recorded_at ? created_at : recorded_at
}

/** Every stream that bears an id: ids are unique, but an address may be suppressed by several accounts. */
export const streams = Effect.fn("TimeTravel.streams")(function* (stream_id: string, as_of?: Timestamp.Timestamp) {
  const sql = yield* PgClient.PgClient
  // By way of the accounts, because every key of the log begins with one.
  const rows = yield* Effect.orDie(sql<Stored>`
    SELECT e.position, e.event_id, e.account_id, e.stream_id, e.stream, e.version, e.type, e.data, e.meta,
      ${iso(sql, "e.recorded_at")} AS recorded_at
    FROM accounts a CROSS JOIN LATERAL (
      SELECT * FROM events WHERE account_id = a.account_id AND stream_id = ${stream_id}
    ) AS e
    ORDER BY e.account_id, e.version`)
  const byAccount = Map.groupBy(rows, ({ account_id, stream }) => `${account_id} ${stream}`)
  return [...byAccount.values()].flatMap((all): ReadonlyArray<History> => {
    const events = until(all, as_of)
    const [first] = events
    if (first === undefined) return []
    const { account_id, stream } = first
    return [{ account_id, stream, stream_id, events: events.map(inTodaysShape) }]
  })
})

const inTodaysShape = (stored: Stored): Stored => ({
  ...stored,
  data: DomainEvent.upcast(stored.type, stored.meta.schema_version, stored.data),
})

/** The log record of a message as it was: the same fold, over the facts of that time. */
export const email = Effect.fn("TimeTravel.email")(function* (
  account_id: AccountId,
  id: string,
  as_of: Timestamp.Timestamp,
) {
  const sql = yield* PgClient.PgClient
  const rows = yield* Effect.orDie(sql<Stored>`
    SELECT position, event_id, account_id, stream_id, stream, version, type, data, meta,
      ${iso(sql, "recorded_at")} AS recorded_at
    FROM events WHERE account_id = ${account_id} AND stream_id = ${id} AND stream = ${Email.stream} ORDER BY version`)
  const history = until(rows, as_of).map((row) => decode(Email, DomainEvent, row))
  const state = fold(Email, history) as Email.State
  return state._tag === "Unborn" ? Option.none() : Option.some(EmailLog.record(state, history.length))
})
