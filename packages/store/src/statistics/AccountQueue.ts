import * as Id from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Effect } from "effect"
import * as Iso from "../postgres/Iso.ts"
import * as IdKey from "../postgres/IdKey.ts"
import { Sql } from "../postgres/Sql.ts"
import * as EmailFacets from "../readmodels/emails/EmailFacets.ts"

/** Maximum number of emails of an account that are counted, and of its emails that are due. */
export const MAX_COUNTED = 10_000

interface Row {
  readonly state: "pending" | "deferred" | "scheduled"
  readonly emails: number
  /** The oldest that had no scheduled time, and the earliest time of the others. */
  readonly first: string | null
  readonly due: Timestamp.Timestamp | null
}

/**
 * Counts the unfinished emails of an account by state. Emails that are due are read apart, so that scheduled ones, however many
 * there are, hide none.
 */
export const find = Effect.fn("AccountQueue.find")(function* (account_id: Id.AccountId) {
  const sql = yield* Sql
  const own = sql`SELECT id, available_at, payload = '{}' AS is_first FROM outbox
    WHERE kind = 'delivery' AND account_id = ${account_id}`
  const isScheduled = sql`l.facets & ${EmailFacets.SCHEDULED}::int <> 0`
  const rows = yield* sql<Row>`
    WITH waiting AS (
      (${own} AND ready AND lease_token IS NULL ORDER BY available_at LIMIT ${MAX_COUNTED}::int)
      UNION (${own} LIMIT ${MAX_COUNTED + 1}::int)),
    states AS (
      SELECT w.id, w.available_at, ${isScheduled} AS has_time,
        CASE WHEN NOT w.is_first THEN 'deferred'
          WHEN ${isScheduled} AND w.available_at > now() THEN 'scheduled' ELSE 'pending' END AS state
      FROM waiting w CROSS JOIN LATERAL (
        SELECT facets FROM email_log
        WHERE account_id = ${IdKey.of(account_id)}::uuid AND id = id_key(w.id) LIMIT 1) AS l)
    SELECT state, count(*)::float8 AS emails, min(id) FILTER (WHERE NOT has_time) AS first,
      ${Iso.iso(sql, "min(available_at) FILTER (WHERE has_time)")} AS due
    FROM states GROUP BY state`
  const of = (state: Row["state"]) => rows.find((row) => row.state === state)
  const count = (state: Row["state"]) => of(state)?.emails ?? 0
  const { due = null, first = null } = of("pending") ?? {}
  const times = [due ?? [], first === null ? [] : Timestamp.fromMillis(Id.timeOf(first))].flat()
  const counts = { pending: count("pending"), deferred: count("deferred"), scheduled: count("scheduled") }
  return {
    ...counts,
    oldest_at: times.toSorted()[0] ?? null,
    is_exact: counts.pending + counts.deferred + counts.scheduled <= MAX_COUNTED,
  }
})
