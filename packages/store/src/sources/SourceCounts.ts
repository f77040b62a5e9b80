import { Effect } from "effect"
import type { Sql } from "../postgres/Sql.ts"
import { HomeSql } from "../routing/HomeSql.ts"

/** Days for which the counts of an address are kept. */
export const KEPT_DAYS = 60

/** An address, a day in UTC as a number since 1970, and a provider. */
export interface CountKey {
  readonly address: string
  readonly day: number
  readonly provider: string
}

export interface Count extends Omit<CountKey, "day"> {
  readonly claimed: number
  readonly sent: number
}

const dateOf = (sql: Sql, day: number) => sql`(DATE '1970-01-01' + ${day}::int)`

/**
 * Claims up to `mails` of the day's limit for one process, and returns how many it got. Mails that were sent before the
 * address had a limit count, too.
 */
export const claim = Effect.fn("SourceCounts.claim")(function* (
  { address, day, provider }: CountKey,
  mails: number,
  limit: number,
) {
  if (limit < 1) return 0
  const sql = yield* HomeSql
  const rows = yield* sql<{ readonly granted: number }>`
    INSERT INTO source_counts AS c (address, day, provider, claimed)
    VALUES (${address}, ${dateOf(sql, day)}, ${provider}, least(${mails}::int, ${limit}::int))
    ON CONFLICT (address, day, provider) DO UPDATE
    SET claimed_before = greatest(c.claimed, c.sent),
      claimed = least(greatest(c.claimed, c.sent) + ${mails}::int, ${limit}::int)
    WHERE greatest(c.claimed, c.sent) < ${limit}::int
    RETURNING claimed - claimed_before AS granted`
  return rows[0]?.granted ?? 0
})

export interface Report extends CountKey {
  /** Mails sent since the last report. */
  readonly sent: number
  /** Claimed mails that are given back. */
  readonly unused: number
}

/** Adds mails that were sent, and gives back claimed ones that were not. */
export const report = Effect.fn("SourceCounts.report")(function* (reports: ReadonlyArray<Report>) {
  if (reports.length === 0) return
  const sql = yield* HomeSql
  const column = <A>(of: (each: Report) => A) => reports.map(of)
  // The column of the former claim carries the number to give back; the next claim sets it anew.
  yield* sql`
    INSERT INTO source_counts AS c (address, day, provider, sent, claimed_before)
    SELECT address, DATE '1970-01-01' + day, provider, sent, unused FROM unnest(
      ${column(({ address }) => address)}::text[], ${column(({ day }) => day)}::int[],
      ${column(({ provider }) => provider)}::text[], ${column(({ sent }) => sent)}::int[],
      ${column(({ unused }) => unused)}::int[]) AS r(address, day, provider, sent, unused)
    ORDER BY address, day, provider
    ON CONFLICT (address, day, provider) DO UPDATE
    SET sent = c.sent + excluded.sent, claimed = greatest(0, c.claimed - excluded.claimed_before)`
})

/** The counts of a day. */
export const ofDay = Effect.fn("SourceCounts.ofDay")(function* (day: number) {
  const sql = yield* HomeSql
  return yield* sql<Count>`
    SELECT address, provider, claimed, sent FROM source_counts WHERE day = ${dateOf(sql, day)}
    ORDER BY address, sent DESC, provider`
})

/** Removes old counts and returns how many. Runs periodically. */
export const expire = Effect.fn("SourceCounts.expire")(function* () {
  const sql = yield* HomeSql
  const rows = yield* sql`
    DELETE FROM source_counts WHERE day < (now() AT TIME ZONE 'UTC')::date - ${KEPT_DAYS}::int RETURNING day`
  return rows.length
})
