import { PgClient } from "@effect/sql-pg"
import * as Domain from "@waybill/domain/domain/Domain"
import { Effect, Option } from "effect"
import * as ReadModel from "./ReadModel.ts"

/** What the log knows of a domain; which records its owner is to publish follows from it and the instance's settings. */
export type DomainRecord = Omit<Domain.Domain, "_tag">

interface Row {
  readonly account_id: string
  readonly id: string
  readonly version: number
  readonly name: string
  readonly status: string
  readonly removed: boolean
  readonly record: DomainRecord | null
}

export const readModel = ReadModel.make({
  name: "domains",
  stream: Domain.stream,
  key: ["account_id", "id"],
  changes: ["version", "status", "removed", "record"],
  rows: ({ account_id, stream_id: id, version }, state: Domain.State): ReadonlyArray<Row> => {
    if (state._tag === "Unborn") return []
    const place = { account_id, id, version, name: state.name }
    if (state._tag === "Removed") return [{ ...place, status: "removed", removed: true, record: null }]
    const { _tag, ...record } = state
    return [{ ...place, status: state.status, removed: false, record }]
  },
})

export const list = Effect.fn("Domains.list")(function* (account_id: string) {
  const sql = yield* PgClient.PgClient
  const rows = yield* Effect.orDie(sql<{ readonly record: DomainRecord }>`
    SELECT record FROM domains WHERE account_id = ${account_id} AND NOT removed ORDER BY name`)
  return rows.map((row) => row.record)
})

/**
 * The names that lead here by DNS, so that links may lead over them. Only of domains that DNS has confirmed once: anybody
 * may add a domain of somebody else's, and a name below it may lead here by chance.
 */
export const trackingNames = Effect.fn("Domains.trackingNames")(function* () {
  const sql = yield* PgClient.PgClient
  const rows = yield* Effect.orDie(tracking(sql))
  return rows.map((row) => row.name)
})

/** The condition is the one of the index `domains_tracking`, to the letter. */
const tracking = (sql: PgClient.PgClient) => sql<{ readonly name: string }>`
  SELECT record -> 'tracking_domain' ->> 'name' AS name FROM domains
  WHERE record -> 'tracking_domain' ->> 'verified' = 'true' AND record ->> 'verified_at' IS NOT NULL`

/** By id, or by name as DNS carries it. */
export const find = Effect.fn("Domains.find")(function* (account_id: string, nameOrId: string) {
  const sql = yield* PgClient.PgClient
  const rows = yield* Effect.orDie(sql<{ readonly record: DomainRecord }>`
    SELECT record FROM domains
    WHERE account_id = ${account_id} AND (id = ${nameOrId} OR name = ${nameOrId}) AND NOT removed`)
  return Option.fromUndefinedOr(rows[0]?.record)
})
