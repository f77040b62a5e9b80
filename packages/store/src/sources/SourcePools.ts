import { Effect } from "effect"
import { Sql } from "../postgres/Sql.ts"
import * as Databases from "../routing/Databases.ts"
import { HomeSql } from "../routing/HomeSql.ts"

/** Maximum number of pools of an instance. */
export const MAX_POOLS = 100

export interface Pool {
  readonly name: string
  readonly overflow: string | null
  readonly addresses: number
  readonly assignments: number
}

export interface Assignment {
  readonly account_id: string
  /** `''` is the whole account. */
  readonly domain_id: string
  readonly pool: string
}

/** Creates a pool unless it exists. Returns whether it exists now. */
export const ensure = Effect.fn("SourcePools.ensure")(function* (name: string) {
  const sql = yield* HomeSql
  yield* sql`
    INSERT INTO source_pools (name) SELECT ${name}
    WHERE (SELECT count(*) FROM source_pools) < ${MAX_POOLS}::int ON CONFLICT DO NOTHING`
  const rows = yield* sql`SELECT name FROM source_pools WHERE name = ${name}`
  return rows.length > 0
})

export const list = Effect.fn("SourcePools.list")(function* () {
  const sql = yield* HomeSql
  return yield* sql<Pool>`
    SELECT name, overflow, (SELECT count(*) FROM source_addresses a WHERE a.pool = p.name)::int AS addresses,
      (SELECT count(*) FROM source_assignments s WHERE s.pool = p.name)::int AS assignments
    FROM source_pools p ORDER BY name`
})

/** Sets the pool that takes mail for which a pool has no address now. */
export const setOverflow = Effect.fn("SourcePools.setOverflow")(function* (name: string, overflow: string | null) {
  const sql = yield* HomeSql
  yield* sql`UPDATE source_pools SET overflow = ${overflow} WHERE name = ${name}`
})

/** Removes a pool. Returns false if an address, an assignment or another pool refers to it. */
export const remove = Effect.fn("SourcePools.remove")(function* (name: string) {
  const sql = yield* HomeSql
  const rows = yield* sql`
    DELETE FROM source_pools p WHERE name = ${name}
      AND NOT EXISTS (SELECT 1 FROM source_addresses a WHERE a.pool = p.name)
      AND NOT EXISTS (SELECT 1 FROM source_assignments s WHERE s.pool = p.name)
      AND NOT EXISTS (SELECT 1 FROM source_pools o WHERE o.overflow = p.name)
    RETURNING name`
  return rows.length > 0
})

export const assign = Effect.fn("SourcePools.assign")(function* ({ account_id, domain_id, pool }: Assignment) {
  const sql = yield* HomeSql
  yield* sql`
    INSERT INTO source_assignments (account_id, domain_id, pool) VALUES (${account_id}, ${domain_id}, ${pool})
    ON CONFLICT (account_id, domain_id) DO UPDATE SET pool = excluded.pool`
})

/** Removes an assignment. Returns whether there was one. */
export const unassign = Effect.fn("SourcePools.unassign")(function* (account_id: string, domain_id: string) {
  const sql = yield* HomeSql
  const rows = yield* sql`
    DELETE FROM source_assignments WHERE account_id = ${account_id} AND domain_id = ${domain_id} RETURNING pool`
  return rows.length > 0
})

/** An assignment with the names of its account and domain, if they exist. */
export interface NamedAssignment extends Assignment {
  readonly account: string | null
  readonly domain: string | null
}

export const assignments = Effect.fn("SourcePools.assignments")(function* () {
  const sql = yield* Sql
  const home = yield* HomeSql
  const all = yield* home<Assignment>`
    SELECT account_id, domain_id, pool FROM source_assignments ORDER BY account_id, domain_id`
  const found = yield* Effect.forEach(yield* Databases.group(all), ({ rows, run }) => run(names(sql, rows)))
  const nameOf = new Map(found.flat().map(({ account_id, domain_id, name }) => [`${account_id} ${domain_id}`, name]))
  return all.map((assignment): NamedAssignment => {
    const { account_id, domain_id } = assignment
    const domain = domain_id === "" ? null : (nameOf.get(`${account_id} ${domain_id}`) ?? null)
    return { ...assignment, account: nameOf.get(`${account_id} `) ?? null, domain }
  })
})

/** Names of the accounts and domains of assignments. */
const names = (sql: Sql, assigned: ReadonlyArray<Assignment>) => {
  const accounts = assigned.map(({ account_id }) => account_id)
  return sql<{ readonly account_id: string; readonly domain_id: string; readonly name: string }>`
    SELECT account_id, '' AS domain_id, record->>'name' AS name FROM accounts WHERE account_id = ANY(${accounts}::text[])
    UNION ALL SELECT account_id, id, record->>'name' FROM domains
    WHERE account_id = ANY(${accounts}::text[]) AND id = ANY(${assigned.map(({ domain_id }) => domain_id)}::text[])
      AND NOT removed`
}
