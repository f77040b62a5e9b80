import { Effect } from "effect"
import * as Databases from "../routing/Databases.ts"
import * as Arrays from "../postgres/Arrays.ts"
import * as ProviderMessages from "./ProviderMessages.ts"
import { HomeSql } from "../routing/HomeSql.ts"

/** Events about no known message that are kept of one hook. */
export const MAX_UNMATCHED = 1_000
/** Days for which an event is kept. Providers repeat a call for up to a day, Amazon's notifications longer. */
export const KEPT_DAYS = 30
/** Hours for which a token is kept; calls with an older one are refused by their age. */
const TOKEN_HOURS = 24
/** Start of the ids of tokens. Ids of events never begin with a space. */
const TOKEN = " token "
/** Unmatched events that one call tries again. */
const RETRIED = 100
/** Shortest time between two attempts to record a kept event. */
const RETRY_AFTER_S = 60

export interface Unmatched {
  readonly id: string
  readonly received_at: string
  readonly event: string
}

/**
 * Notes that a call used a token, which proves only the event with this digest from then on. Returns false if the token was
 * used for another one: the signature of a call that somebody has seen must not prove a call of theirs.
 */
export const noteToken = Effect.fn("ProviderEvents.noteToken")(function* (
  hook_id: string,
  { digest, token }: { readonly token: string; readonly digest: string },
) {
  const sql = yield* HomeSql
  const rows = yield* sql`
    INSERT INTO provider_events (hook_id, id, ref) VALUES (${hook_id}, ${TOKEN + token}, ${digest})
    ON CONFLICT (hook_id, id) DO UPDATE SET ref = excluded.ref WHERE provider_events.ref = excluded.ref
    RETURNING id`
  return rows.length > 0
})

export interface ToKeep {
  readonly id: string
  readonly ref: string | undefined
  readonly event: string
}

/**
 * Keeps events about no known message, while there is room. Returns how many are kept now that were not before, and whether
 * room is left.
 */
export const keep = Effect.fn("ProviderEvents.keep")(function* (hook_id: string, events: ReadonlyArray<ToKeep>) {
  const sql = yield* HomeSql
  const [before] = yield* sql<{ readonly n: number }>`
    SELECT count(*)::int AS n FROM (
      SELECT 1 FROM provider_events WHERE hook_id = ${hook_id} AND event IS NOT NULL LIMIT ${MAX_UNMATCHED}::int) AS kept`
  const room = MAX_UNMATCHED - (before?.n ?? 0)
  if (room <= 0) return { kept: 0, hasRoom: false }
  const byId = new Map(events.toReversed().map((event) => [event.id, event]))
  const distinct = [...byId.values()].toReversed()
  const rows = yield* sql`
    INSERT INTO provider_events (hook_id, id, ref, event)
    SELECT ${hook_id}, id, ref, event
    FROM unnest(${Arrays.texts(distinct.map(({ id }) => id))}, ${Arrays.texts(distinct.map(({ ref }) => ref ?? null))},
      ${Arrays.texts(distinct.map(({ event }) => event))}) WITH ORDINALITY AS given(id, ref, event, nth)
    WHERE NOT EXISTS (SELECT 1 FROM provider_events AS known WHERE known.hook_id = ${hook_id} AND known.id = given.id)
    ORDER BY nth LIMIT ${room}::int
    ON CONFLICT (hook_id, id) DO NOTHING RETURNING id`
  return { kept: rows.length, hasRoom: rows.length < room }
})

export interface Kept {
  readonly id: string
  readonly event: string
}

/**
 * Returns the kept events whose message is known by now in any database, so that they are recorded. Until they are settled
 * they stay kept; one that cannot be recorded is returned again after as long a time as it has been kept.
 */
export const takeMatched = Effect.fn("ProviderEvents.takeMatched")(function* (hook_id: string) {
  const sql = yield* HomeSql
  const kept = yield* sql<{ readonly ref: string }>`
    SELECT ref FROM provider_events
    WHERE hook_id = ${hook_id} AND event IS NOT NULL AND ref IS NOT NULL AND retry_at <= now()`
  if (kept.length === 0) return []
  const { rows: known } = yield* Databases.rowsInTime(ProviderMessages.known(kept.map(({ ref }) => ref)))
  if (known.length === 0) return []
  return yield* sql<Kept>`
    UPDATE provider_events SET retry_at = now() + greatest(make_interval(secs => ${RETRY_AFTER_S}::int), now() - received_at)
    WHERE hook_id = ${hook_id} AND id = ANY(ARRAY(
      SELECT id FROM provider_events
      WHERE hook_id = ${hook_id} AND event IS NOT NULL AND retry_at <= now() AND ref = ANY(${known}::text[])
      ORDER BY received_at LIMIT ${RETRIED}::int))
    RETURNING id, event`
})

/** Removes events that were kept and are recorded by now. */
export const settle = Effect.fn("ProviderEvents.settle")(function* (hook_id: string, ids: ReadonlyArray<string>) {
  const sql = yield* HomeSql
  yield* sql`
    DELETE FROM provider_events WHERE hook_id = ${hook_id} AND id = ANY(${ids}::text[]) AND event IS NOT NULL`
})

/** The newest events about no known message. */
export const unmatched = Effect.fn("ProviderEvents.unmatched")(function* (hook_id: string, limit: number) {
  const sql = yield* HomeSql
  return yield* sql<Unmatched>`
    SELECT id, received_at::text, event FROM provider_events
    WHERE hook_id = ${hook_id} AND event IS NOT NULL ORDER BY received_at DESC LIMIT ${limit}::int`
})

/** Removes old events and returns how many. Runs periodically. */
export const expire = Effect.fn("ProviderEvents.expire")(function* () {
  const sql = yield* HomeSql
  const rows = yield* sql`
    DELETE FROM provider_events
    WHERE received_at < now() - make_interval(days => ${KEPT_DAYS}::int)
      OR (received_at < now() - make_interval(hours => ${TOKEN_HOURS}::int) AND starts_with(id, ${TOKEN}))
    RETURNING id`
  return rows.length
})
