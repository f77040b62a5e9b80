import { Effect, Option } from "effect"
import * as Iso from "../postgres/Iso.ts"
import { HomeSql } from "../routing/HomeSql.ts"

/** Maximum number of hooks of an instance. */
export const MAX_HOOKS = 100

export interface Hook {
  readonly id: string
  readonly provider: string
  readonly name: string
  readonly created_at: string
  readonly recorded: number
  readonly unchanged: number
  readonly unmatched: number
  readonly malformed: number
  readonly refused: number
  readonly last_call_at: string | null
  readonly last_event_at: string | null
  readonly lag_ms: number | null
  readonly last_refusal: string | null
}

/** Numbers that calls add to those of their hook. */
export interface Counted {
  readonly recorded: number
  readonly unchanged: number
  readonly unmatched: number
  readonly malformed: number
  readonly refused: number
  /** Time of the newest event. */
  readonly newest_ms: number | null
  readonly last_refusal: string | null
}

export const NOTHING: Counted = {
  recorded: 0,
  unchanged: 0,
  unmatched: 0,
  malformed: 0,
  refused: 0,
  newest_ms: null,
  last_refusal: null,
}

/** Numbers of earlier and of later calls together. */
export const sum = (earlier: Counted, later: Counted): Counted => ({
  recorded: earlier.recorded + later.recorded,
  unchanged: earlier.unchanged + later.unchanged,
  unmatched: earlier.unmatched + later.unmatched,
  malformed: earlier.malformed + later.malformed,
  refused: earlier.refused + later.refused,
  newest_ms: later.newest_ms === null ? earlier.newest_ms : Math.max(later.newest_ms, earlier.newest_ms ?? 0),
  last_refusal: later.last_refusal ?? earlier.last_refusal,
})

/** Adds a hook. Returns whether there was room for it. */
export const add = Effect.fn("ProviderHooks.add")(function* (hook: {
  readonly id: string
  readonly provider: string
  readonly name: string
  readonly token_hash: string
}) {
  const sql = yield* HomeSql
  const hooks = yield* sql`SELECT id FROM provider_hooks LIMIT ${MAX_HOOKS}::int`
  if (hooks.length >= MAX_HOOKS) return false
  yield* sql`
    INSERT INTO provider_hooks (id, provider, name, token_hash)
    VALUES (${hook.id}, ${hook.provider}, ${hook.name}, ${hook.token_hash})`
  return true
})

/** All hooks, oldest first. */
export const list = Effect.fn("ProviderHooks.list")(function* () {
  const sql = yield* HomeSql
  return yield* sql<Hook>`
    SELECT id, provider, name, ${Iso.iso(sql, "created_at")} AS created_at, recorded::float8, unchanged::float8,
      unmatched::float8, malformed::float8, refused::float8, ${Iso.iso(sql, "last_call_at")} AS last_call_at,
      ${Iso.iso(sql, "last_event_at")} AS last_event_at, lag_ms::float8, last_refusal
    FROM provider_hooks ORDER BY provider_hooks.created_at, id`
})

/** The hook at an address. */
export const find = Effect.fn("ProviderHooks.find")(function* (provider: string, token_hash: string) {
  const sql = yield* HomeSql
  const rows = yield* sql<{ readonly id: string }>`
    SELECT id FROM provider_hooks WHERE provider = ${provider} AND token_hash = ${token_hash}`
  return Option.map(Option.fromUndefinedOr(rows[0]), ({ id }) => id)
})

/** Removes a hook. Returns whether there was one. */
export const remove = Effect.fn("ProviderHooks.remove")(function* (id: string) {
  const sql = yield* HomeSql
  const rows = yield* sql`DELETE FROM provider_hooks WHERE id = ${id} RETURNING id`
  return rows.length > 0
})

/** Counts calls of now, and keeps the time of the newest event with its lag. */
export const count = Effect.fn("ProviderHooks.count")(function* (id: string, counted: Counted) {
  const sql = yield* HomeSql
  const { last_refusal, malformed, newest_ms, recorded, refused, unchanged, unmatched } = counted
  yield* sql`
    UPDATE provider_hooks SET last_call_at = now(), recorded = recorded + ${recorded}::int,
      unchanged = unchanged + ${unchanged}::int, unmatched = unmatched + ${unmatched}::int,
      malformed = malformed + ${malformed}::int, refused = refused + ${refused}::int,
      last_refusal = coalesce(${last_refusal}, last_refusal)
      ${
        newest_ms === null
          ? sql.literal("")
          : sql`, last_event_at = greatest(last_event_at, to_timestamp(${newest_ms}::float8 / 1000)),
              lag_ms = greatest(0, extract(epoch FROM now()) * 1000 - ${newest_ms}::float8)::bigint`
      }
    WHERE id = ${id}`
})
