import * as Team from "@waybill/domain/account/Team"
import type * as Scope from "@waybill/domain/account/Scope"
import { Effect } from "effect"
import * as Databases from "../routing/Databases.ts"
import { HomeSql } from "../routing/HomeSql.ts"
import { Sql } from "../postgres/Sql.ts"

/** The API key or dashboard session by which a running request was admitted, with the live account that owns it. */
export type Bearer =
  | { readonly kind: "key"; readonly account_id: string; readonly id: string }
  | { readonly kind: "session"; readonly account_id: string; readonly id: string }

/** Rights of a bearer at this moment. A session that has ended, or whose member was removed, has no standing. */
export interface Standing {
  readonly scopes: ReadonlyArray<Scope.Scope>
  readonly operator: boolean
  /** Why a key is not valid any more; null if it is valid. */
  readonly ended: "revoked" | "expired" | null
}

export const nameOf = ({ account_id, id, kind }: Bearer): string => `${kind}/${account_id}/${id}`

interface Row {
  readonly kind: Bearer["kind"]
  readonly account_id: string
  readonly id: string
  readonly scopes: ReadonlyArray<Scope.Scope> | null
  readonly role: Team.Role | null
  readonly operator: boolean
  readonly ended: Standing["ended"]
}

/**
 * Looks up the standing of many bearers, by `nameOf`, in one statement for each database, and one at home. No request is counted:
 * this is for requests that were admitted before and are still running. Bearers of an account in the last step of its move are to
 * be looked up later: nothing can be revoked there until then.
 */
export const find = Effect.fn("Standings.look")(function* (bearers: ReadonlyArray<Bearer>) {
  const keys = yield* Databases.place(bearers.filter(({ kind }) => kind === "key"))
  const found = yield* Effect.forEach(keys.placed, ({ rows, run }) => run(findHere(rows)), { concurrency: "unbounded" })
  const sessions = yield* Databases.place(bearers.filter(({ kind }) => kind === "session"))
  // Home, which has the sessions, may be away: the keys of other databases are looked up all the same.
  const members = yield* Effect.forEach(
    sessions.placed,
    ({ rows, run }) =>
      Effect.match(run(findHere(rows)), {
        onFailure: () => ({ rows: [], later: rows }),
        onSuccess: (rows) => ({ rows, later: [] }),
      }),
    { concurrency: "unbounded" },
  )
  const later = [...keys.fenced, ...sessions.fenced, ...members.flatMap((each) => each.later)]
  return {
    standings: new Map([...found.flat(), ...members.flatMap(({ rows }) => rows)]),
    later: new Set(later.map(nameOf)),
  }
})

/** Looks up the standing of one bearer, after the end of a move of its account. */
export const findOne = Effect.fn("Standings.findOne")(function* (bearer: Bearer) {
  const found = yield* Databases.ofAccount(bearer.account_id, findHere([bearer]))
  return new Map(found).get(nameOf(bearer))
})

/** Sessions are at home, and the members that they are of in the account's database. */
const findHere = Effect.fnUntraced(function* (bearers: ReadonlyArray<Bearer>) {
  const sql = yield* Sql
  const keys = bearers.filter(({ kind }) => kind === "key")
  const sessions = bearers.filter(({ kind }) => kind === "session")
  const home = yield* HomeSql
  const open =
    sessions.length === 0
      ? []
      : yield* home<{ readonly id: string; readonly user_id: string; readonly operator: boolean }>`
          SELECT s.id, s.user_id, u.operator FROM user_sessions s JOIN users u ON u.id = s.user_id
          WHERE s.id = ANY(${sessions.map(({ id }) => id)}::text[]) AND s.expires_at > statement_timestamp()`
  const rows = yield* sql<Row>`
    WITH session AS MATERIALIZED (
      SELECT * FROM unnest(${open.map(({ id }) => id)}::text[], ${open.map(({ user_id }) => user_id)}::text[],
        ${open.map(({ operator }) => operator)}::boolean[]) AS s(id, user_id, operator))
    SELECT 'key' AS kind, k.account_id, k.id, k.scopes, NULL AS role, false AS operator,
      CASE WHEN k.revoked_at IS NOT NULL THEN 'revoked' WHEN k.expires_at <= statement_timestamp() THEN 'expired' END AS ended
    FROM unnest(${keys.map(({ account_id }) => account_id)}::text[], ${keys.map(({ id }) => id)}::text[]) AS wanted(account_id, id)
    JOIN api_keys k ON k.account_id = wanted.account_id AND k.id = wanted.id
    UNION ALL
    SELECT 'session', m.account_id, s.id, NULL, m.role, s.operator, NULL
    FROM session s JOIN members m ON m.user_id = s.user_id WHERE m.status <> 'removed'`
  return rows.map(({ ended, operator, role, scopes, ...bearer }): readonly [string, Standing] => [
    nameOf(bearer),
    { scopes: scopes ?? (role === null ? [] : Team.SCOPES[role]), operator, ended },
  ])
})
