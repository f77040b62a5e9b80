import { Effect } from "effect"
import { sendingDomains } from "../../postgres/sendingDomains.ts"
import { type Client, Sql } from "../../postgres/Sql.ts"
import { FIRST } from "../CellName.ts"
import { CurrentCell } from "../CurrentCell.ts"
import * as Databases from "../Databases.ts"
import { HomeSql } from "../HomeSql.ts"

/** A name by which requests find the cell of an account. */
export interface Name {
  readonly kind: "api_key" | "user" | "tracking_host" | "domain"
  readonly name: string
  readonly account_id: string
}

/** Those of some names that home does not have. */
export const unknown = Effect.fnUntraced(function* (home: Sql, names: ReadonlyArray<Name>) {
  if (names.length === 0) return []
  const rows = yield* home<{ readonly nth: number }>`
    SELECT n.nth::int AS nth FROM unnest(${names.map(({ kind }) => kind)}::text[], ${names.map(({ name }) => name)}::text[])
      WITH ORDINALITY AS n(kind, name, nth)
    WHERE NOT EXISTS (SELECT FROM account_names a WHERE a.kind = n.kind AND a.name = n.name)`
  return rows.flatMap(({ nth }) => names[nth - 1] ?? [])
})

export const insert = <E>(sql: Client<E>, names: ReadonlyArray<Name>) => sql`
  INSERT INTO account_names (kind, name, account_id)
  SELECT DISTINCT ON (kind, name) * FROM unnest(${names.map(({ kind }) => kind)}::text[],
    ${names.map(({ name }) => name)}::text[], ${names.map(({ account_id }) => account_id)}::text[])
    AS n(kind, name, account_id) ORDER BY kind, name
  ON CONFLICT (kind, name) DO UPDATE SET account_id = excluded.account_id`

/** Interval at which the domains of a cell are compared with the directory. */
const LISTED_EVERY = "1 hour"
/** Accounts whose domains are compared at once. */
const PAGE = 500

/**
 * Makes the directory have the domains that accounts of the fiber's cell have verified, if it was not compared for a while: those
 * that were removed go, and those come that it lacks, because its home was restored from a backup or is of a release without them.
 * What is named meanwhile stays.
 */
export const listDomains = Effect.fn("AccountNames.listDomains")(function* () {
  const cell = yield* CurrentCell
  if (cell === FIRST) return
  const [sql, home] = [yield* Sql, yield* HomeSql]
  const due = yield* home`
    SELECT FROM cells WHERE name = ${cell}
      AND (domains_listed_at IS NULL OR domains_listed_at < now() - ${LISTED_EVERY}::interval)`
  if (due.length === 0) return
  for (let after = ""; ;) {
    const page = yield* sql<{ readonly account_id: string }>`
      SELECT account_id FROM accounts WHERE account_id > ${after} ORDER BY account_id LIMIT ${PAGE}::int`
    const last = page.at(-1)
    if (last === undefined) break
    after = last.account_id
    const account_ids = page.map(({ account_id }) => account_id)
    const listed = yield* home<Pick<Name, "name">>`
      SELECT n.name FROM account_names n JOIN account_cells c ON c.account_id = n.account_id
      WHERE n.account_id = ANY(${account_ids}::text[]) AND n.kind = 'domain' AND c.cell = ${cell} AND c.moving_to IS NULL`
    const domains = yield* sql<Name & { readonly is_verified: boolean }>`
      SELECT 'domain' AS kind, name || ' ' || account_id AS name, account_id, ${sendingDomains(sql)} AS is_verified
      FROM domains WHERE account_id = ANY(${account_ids}::text[]) AND NOT removed`
    const [known, present] = [new Set(listed.map(({ name }) => name)), new Set(domains.map(({ name }) => name))]
    const removed = listed.flatMap(({ name }) => (present.has(name) ? [] : [name]))
    const missing = domains.filter(({ is_verified, name }) => is_verified && !known.has(name))
    if (removed.length > 0)
      yield* home`DELETE FROM account_names WHERE kind = 'domain' AND name = ANY(${removed}::text[])`
    if (missing.length > 0) yield* insert(home, missing)
  }
  yield* home`UPDATE cells SET domains_listed_at = now() WHERE name = ${cell}`
})

interface NamedUser {
  readonly user_id: string
  readonly account_id: string
}

/** Groups users by the database of their account; those who are not named in the directory are at home. */
export const placeUsers = Effect.fnUntraced(function* (user_ids: ReadonlyArray<string>) {
  const unnamed = user_ids.map((user_id): NamedUser => ({ user_id, account_id: "" }))
  if (!(yield* Databases.areSeveral)) return [{ ...Databases.home, rows: unnamed }]
  const home = yield* HomeSql
  const named = yield* home<NamedUser>`
    SELECT name AS user_id, account_id FROM account_names WHERE kind = 'user' AND name = ANY(${user_ids}::text[])`
  const isNamed = new Set(named.map(({ user_id }) => user_id))
  const atHome = unnamed.filter(({ user_id }) => !isNamed.has(user_id))
  return [{ ...Databases.home, rows: atHome }, ...(yield* Databases.group(named))]
})

/** Users whose accounts are in some databases. Whether a membership has ended, only these know. */
export const usersIn = Effect.fnUntraced(function* (databases: ReadonlyArray<string>) {
  if (databases.length === 0) return []
  const home = yield* HomeSql
  return yield* home<NamedUser>`
    SELECT n.name AS user_id, n.account_id FROM account_names n JOIN account_cells c ON c.account_id = n.account_id
    WHERE n.kind = 'user' AND c.cell = ANY(${databases}::text[])`
})
