import { PgTypes } from "@effect/sql-pg"
import * as Email from "@waybill/domain/email/Email"
import * as Recipient from "@waybill/domain/email/Recipient"
import * as Suppression from "@waybill/domain/suppression/Suppression"
import * as Team from "@waybill/domain/account/Team"
import { Effect } from "effect"
import * as RecordedEvents from "../log/RecordedEvents.ts"
import * as Feed from "../feed/Feed.ts"
import * as ReadModels from "../commit/ReadModels.ts"
import { aggregateOf } from "../log/aggregateOf.ts"
import { rowsOf } from "../rebuild/fill/StreamFold.ts"
import * as StreamRemoval from "./StreamRemoval.ts"
import type { StreamOfAccount } from "./AffectedStreams.ts"
import type * as Mask from "./Mask.ts"
import * as PackedEvent from "../packed/PackedEvent.ts"
import * as Leaves from "../transparency/Leaves.ts"
import type { Sql } from "../postgres/Sql.ts"
import type { StoreUnavailable } from "../postgres/StoreUnavailable.ts"

const UNDECIDED = "may be part of another address: check by hand"

/**
 * Masks an address in the events of a stream, and in the read models and webhook deliveries made from them. Returns the number of
 * masked events, and why the stream still holds the address, if it does.
 */
export const maskStream = Effect.fnUntraced(function* (
  sql: Sql,
  { account_id, stream, stream_id }: StreamOfAccount,
  mask: Mask.Mask,
  tables: Effect.Effect<StreamRemoval.TablesOf, StoreUnavailable>,
) {
  const rows = yield* sql<PackedEvent.Row>`
    SELECT ${Feed.columns(sql)} FROM events WHERE account_id = ${account_id} AND stream_id = ${stream_id} ORDER BY version`
  const before = rows.map(PackedEvent.open)
  const unsure = before.some(({ data }) => mask.mayContain(data)) ? UNDECIDED : undefined
  if (!before.some(({ data }) => mask.contains(data))) return { events: 0, remaining: unsure }
  const reason = reasonToKeep(stream, before, mask)
  if (reason !== undefined) return { events: 0, remaining: reason }
  const tablesOf = yield* tables
  const isTheirs = stream === Email.stream && isOnlyRecipient(before, mask)
  const after = before.map((event) => ({
    ...event,
    stream_id: stream === Suppression.stream ? mask.apply(stream_id) : stream_id,
    data: isTheirs ? mask.applyToTrace(event.data) : mask.apply(event.data),
    // An unsubscribe without a key or a session comes from the person, so its network address is removed.
    meta:
      stream === Suppression.stream && event.meta.actor.type === "system"
        ? { ...event.meta, address: null }
        : event.meta,
  }))
  const aggregate = aggregateOf(stream)
  const [old, masked] = [before, after].map((events) => events.map((each) => RecordedEvents.decode(aggregate, each)))
  // Updates all events, even those that do not name the address: a node notices by them that its cached state is
  // outdated.
  yield* sql`
    UPDATE events e SET data = m.data, meta = m.meta, packed = m.packed, stream_id = m.stream_id
    FROM jsonb_to_recordset(${PgTypes.jsonb(after.map((event) => ({ position: String(event.position), stream_id: event.stream_id, ...PackedEvent.columnsOf(event) })))})
      AS m(position bigint, stream_id text, data jsonb, meta jsonb, packed text)
    WHERE e.position = m.position`
  const masked_id = after[0]?.stream_id ?? stream_id
  yield* Leaves.erase(sql, Leaves.keyOf({ account_id, stream_id }), Leaves.keyOf({ account_id, stream_id: masked_id }))
  for (const model of ReadModels.readModels.filter((each) => each.stream === stream)) {
    const rows = rowsOf(model, aggregate, masked ?? [])
    for (const table of tablesOf(model)) {
      yield* StreamRemoval.remove(sql, model, table, rowsOf(model, aggregate, old ?? []))
      if (rows.length > 0) yield* model.upsert(sql, rows, table)
    }
  }
  // Responses of endpoints to calls about this stream may repeat the address.
  yield* sql`
    UPDATE webhook_deliveries d SET history = '[]', stream_id = m.stream_id
    FROM jsonb_to_recordset(${PgTypes.jsonb(after.map(({ event_id, stream_id }) => ({ event_id, stream_id })))})
      AS m(event_id text, stream_id text), webhooks w
    WHERE w.account_id = ${account_id} AND d.account_id = ${account_id} AND d.webhook_id = w.id AND d.event_id = m.event_id`
  return { events: before.filter(({ data }) => mask.contains(data)).length, remaining: unsure }
})

const stateOf = (stream: string, events: ReadonlyArray<RecordedEvents.Stored>): unknown => {
  const aggregate = aggregateOf(stream)
  return RecordedEvents.fold(
    aggregate,
    events.map((each) => RecordedEvents.decode(aggregate, each)),
  )
}

/** Returns why a stream cannot be masked yet: mail in progress needs its recipient, and a member needs an address. */
const reasonToKeep = (
  stream: string,
  events: ReadonlyArray<RecordedEvents.Stored>,
  mask: Mask.Mask,
): string | undefined => {
  if (stream === Email.stream) {
    const state = stateOf(stream, events) as Email.State
    const waits = state._tag === "Message" && state.recipients.some(Recipient.isUnfinished)
    return waits ? "mail in progress: cancel it, or run this again when it is final" : undefined
  }
  if (stream !== Team.stream) return undefined
  const { members } = stateOf(stream, events) as Team.State
  const isMember = members.some(({ email }) => mask.contains(email))
  return isMember ? "a member of the account: remove the member first" : undefined
}

const isOnlyRecipient = (events: ReadonlyArray<RecordedEvents.Stored>, mask: Mask.Mask): boolean => {
  const state = stateOf(Email.stream, events) as Email.State
  return state._tag === "Message" && state.recipients.every(({ address }) => mask.contains(address))
}
