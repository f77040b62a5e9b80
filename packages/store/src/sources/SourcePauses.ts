import { Effect } from "effect"
import * as Iso from "../postgres/Iso.ts"
import { HomeSql } from "../routing/HomeSql.ts"

/** Site of a pause that holds for all mail of an address. */
export const EVERY_SITE = "*"
/** Pauses of one address that are kept: any server can refuse an address. */
export const MAX_PAUSES = 200
/** Time after the end of a pause after which a new block counts as the first one. */
export const FORGOTTEN_AFTER_DAYS = 2
/** Characters of a reason that are kept. */
const MAX_REASON = 300
const MAX_SITE = 300

export interface Pause {
  readonly address: string
  readonly site: string
  readonly since: string
  readonly until: string | null
  readonly reason: string
}

export interface Block {
  readonly address: string
  readonly site: string
  readonly reason: string
  readonly now_ms: number
  /** Length of the first pause, which each further block doubles, and of the longest one. */
  readonly pause_ms: number
  readonly longest_ms: number
}

/** Key of a site in the table; a route of many servers may be long. */
export const siteKey = (site: string): string => site.slice(0, MAX_SITE)

/**
 * Pauses an address for a site that refuses it. Within a pause, further blocks change nothing: several processes see the
 * same one. Returns the end in milliseconds; undefined if there is no room for another pause.
 */
export const block = Effect.fn("SourcePauses.block")(function* (block: Block) {
  const { address, longest_ms, now_ms, pause_ms, reason, site } = block
  const sql = yield* HomeSql
  const now = sql`to_timestamp(${now_ms / 1000}::float8)`
  const rows = yield* sql<{ readonly until_ms: number | null; readonly is_new: boolean }>`
    INSERT INTO source_pauses AS p (address, site, since, until, reason, blocks)
    SELECT ${address}, ${siteKey(site)}, ${now}, ${now} + make_interval(secs => ${pause_ms / 1000}::float8),
      ${reason.slice(0, MAX_REASON)}, 1
    WHERE EXISTS (SELECT 1 FROM source_addresses WHERE address = ${address})
      AND (SELECT count(*) FROM source_pauses WHERE address = ${address} AND site <> ${siteKey(site)})
        < ${MAX_PAUSES}::int
    ON CONFLICT (address, site) DO UPDATE SET
      since = CASE WHEN p.until <= ${now} THEN excluded.since ELSE p.since END,
      reason = CASE WHEN p.until <= ${now} THEN excluded.reason ELSE p.reason END,
      blocks = CASE WHEN p.until <= ${now} - make_interval(days => ${FORGOTTEN_AFTER_DAYS}::int) THEN 1
        WHEN p.until <= ${now} THEN p.blocks + 1 ELSE p.blocks END,
      until = CASE
        WHEN p.until <= ${now} - make_interval(days => ${FORGOTTEN_AFTER_DAYS}::int) THEN excluded.until
        WHEN p.until <= ${now} THEN ${now} + make_interval(secs =>
          least(${longest_ms / 1000}::float8, ${pause_ms / 1000}::float8 * 2 ^ least(p.blocks, 16)))
        ELSE p.until END
    RETURNING (extract(epoch FROM until) * 1000)::float8 AS until_ms, since = ${now} AS is_new`
  return rows[0]
})

/** Pauses an address until it is resumed. */
export const pause = Effect.fn("SourcePauses.pause")(function* (address: string, site: string, reason: string) {
  const sql = yield* HomeSql
  yield* sql`
    INSERT INTO source_pauses (address, site, since, until, reason)
    VALUES (${address}, ${siteKey(site)}, now(), NULL, ${reason.slice(0, MAX_REASON)})
    ON CONFLICT (address, site) DO UPDATE SET since = excluded.since, until = NULL, reason = excluded.reason`
})

/** Ends the pause for one site, or all pauses of the address. Returns how many. */
export const resume = Effect.fn("SourcePauses.resume")(function* (address: string, site: string | undefined) {
  const sql = yield* HomeSql
  const rows = yield* site === undefined
    ? sql`DELETE FROM source_pauses WHERE address = ${address} RETURNING site`
    : sql`DELETE FROM source_pauses WHERE address = ${address} AND site = ${siteKey(site)} RETURNING site`
  return rows.length
})

/** Pauses that hold at a time. */
export const current = Effect.fn("SourcePauses.current")(function* (now_ms: number) {
  const sql = yield* HomeSql
  return yield* sql<Pause>`
    SELECT address, site, ${Iso.iso(sql, "since")} AS since, ${Iso.iso(sql, "until")} AS until, reason
    FROM source_pauses WHERE until IS NULL OR until > to_timestamp(${now_ms / 1000}::float8)
    ORDER BY address, site`
})

/** Removes pauses that are over for long, and returns how many. Runs periodically. */
export const expire = Effect.fn("SourcePauses.expire")(function* () {
  const sql = yield* HomeSql
  const rows = yield* sql`
    DELETE FROM source_pauses WHERE until < now() - make_interval(days => ${FORGOTTEN_AFTER_DAYS}::int) RETURNING site`
  return rows.length
})
