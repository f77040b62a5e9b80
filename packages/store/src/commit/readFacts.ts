import { Effect } from "effect"
import type { Query } from "../log/BatchPart.ts"
import type { Client } from "../postgres/Sql.ts"
import * as BatchParts from "./BatchParts.ts"

type NamedQuery = Query & { readonly name: string }
type FactRow = { readonly name: string; readonly fact: object }

/** Reads the needs of all commits of a batch in one statement, or `apart` in statements of one table that are sent together. */
export const readFacts = Effect.fnUntraced(function* <E>(
  sql: Client<E>,
  needs: ReadonlyArray<BatchParts.AccountNeeds>,
  now: string,
  isApart = false,
) {
  const queries: Array<NamedQuery> = []
  for (const [name, part] of BatchParts.all)
    for (const query of part.read?.(sql, needs, now) ?? []) queries.push({ ...query, name })
  const rows = Map.groupBy(yield* isApart ? readApart(sql, queries) : readTogether(sql, queries), ({ name }) => name)
  const facts = BatchParts.all.map(([name, part]) => [
    name,
    part.fact?.((rows.get(name) ?? []).map(({ fact }) => fact)),
  ])
  return Object.fromEntries(facts) as never as BatchParts.Facts
})

/** Reads all facts in one statement, so that the batch waits for one answer instead of many. */
const readTogether = <E>(sql: Client<E>, queries: ReadonlyArray<NamedQuery>) => {
  const written = queries.flatMap(({ name, rows, writes }) => (writes === true ? [sql`${sql(name)} AS (${rows})`] : []))
  const selects = queries.map(({ name, rows, writes }) => {
    const from = writes === true ? sql`SELECT * FROM ${sql(name)}` : rows
    return sql`SELECT ${sql.literal(`'${name}'`)} AS name, to_jsonb(f) AS fact FROM (${from}) AS f`
  })
  return sql<FactRow>`${written.length === 0 ? sql.literal("") : sql`WITH ${sql.csv(written)}`}
    ${selects.reduce((all, next) => sql`${all} UNION ALL ${next}`)}`
}

/**
 * Reads each kind of facts by a statement of its own, where one of several tables would be planned each time, which costs ten
 * times as much.
 */
const readApart = <E>(sql: Client<E>, queries: ReadonlyArray<NamedQuery>) => {
  const reading = queries.map(({ apart, name, rows, writes }) => {
    const query = writes === true ? sql`WITH ${sql(name)} AS (${rows}) SELECT * FROM ${sql(name)}` : sql`${rows}`
    return Effect.map(apart?.(sql) ?? query, (found) => found.map((fact): FactRow => ({ name, fact })))
  })
  return Effect.map(Effect.all(reading, { concurrency: "unbounded" }), (rows) => rows.flat())
}
