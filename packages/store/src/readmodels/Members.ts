import type * as Id from "@waybill/domain/values/Id"
import * as RateLimit from "@waybill/domain/account/RateLimit"
import * as Team from "@waybill/domain/account/Team"
import type { Timestamp } from "@waybill/domain/values/Timestamp"
import { Effect, Option } from "effect"
import * as RateWindows from "../admission/RateWindows.ts"
import * as Databases from "../routing/Databases.ts"
import { HomeSql } from "../routing/HomeSql.ts"
import * as Iso from "../postgres/Iso.ts"
import * as ReadModel from "./ReadModel.ts"
import { Sql } from "../postgres/Sql.ts"

export const readModel = ReadModel.make({
  name: "members",
  stream: Team.stream,
  key: ["account_id", "user_id"],
  changes: ["version", "email", "role", "status", "record"],
  rememberedEvents: Team.REMEMBERED_EVENTS,
  rows: ({ account_id }, { former, members }: Team.State) =>
    [...members, ...former].map(({ email, invited_at, joined_at, name, role, status, user_id, version }) => ({
      account_id,
      user_id,
      // Version of this member's last change, so that a commit does not rewrite the rows of all other members.
      version,
      email,
      role,
      status,
      record: { object: "member", id: user_id, email, name, role, status, invited_at, joined_at },
    })),
})

export interface ListedMember {
  readonly record: object
  readonly name: string
  readonly two_factor: boolean
  readonly last_seen_at: Timestamp | null
}

/** Lists members with the data only sign-in has: chosen name, second factor, last activity. */
export const list = Effect.fn("Members.list")(function* (account_id: string) {
  const sql = yield* Sql
  const members = yield* sql<{ readonly user_id: string; readonly record: object }>`
    SELECT user_id, record FROM members WHERE account_id = ${account_id} AND status <> 'removed' ORDER BY user_id`
  const home = yield* HomeSql
  const users = yield* home<Omit<ListedMember, "record"> & { readonly id: string }>`
    SELECT u.id, u.name,
      u.two_factor_enabled OR EXISTS (SELECT 1 FROM user_passkeys p WHERE p.user_id = u.id) AS two_factor,
      (SELECT ${Iso.iso(sql, "max(s.updated_at)")} FROM user_sessions s WHERE s.user_id = u.id) AS last_seen_at
    FROM users u WHERE u.id = ANY(${members.map(({ user_id }) => user_id)}::text[])`
  const userOf = new Map(users.map(({ id, ...user }) => [id, user]))
  return members.flatMap(({ record, user_id }): ReadonlyArray<ListedMember> => {
    const user = userOf.get(user_id)
    return user === undefined ? [] : [{ record, ...user }]
  })
})

/** Dashboard user of a request. */
export interface RequestUser {
  readonly user_id: Id.UserId
  readonly account_id: Id.AccountId
  readonly role: Team.Role
  readonly status: Exclude<Team.Status, "removed">
  readonly operator: boolean
}

/** Finds the account and role of a user. */
export const find = Effect.fn("Members.find")(function* (user_id: string) {
  const sql = yield* Sql
  const found = sql<Omit<RequestUser, "operator">>`
    SELECT user_id, account_id, role, status FROM members WHERE user_id = ${user_id} AND status <> 'removed'`
  const [member] = yield* Databases.ofUser(user_id, found)
  const operator = member === undefined ? undefined : yield* isOperator(user_id)
  return member === undefined || operator === undefined
    ? Option.none()
    : Option.some({ ...member, operator } satisfies RequestUser)
})

/** Whether a user, who is at home, operates the instance; undefined for none. */
const isOperator = Effect.fnUntraced(function* (user_id: string) {
  const home = yield* HomeSql
  const [user] = yield* home<{ readonly operator: boolean }>`SELECT operator FROM users WHERE id = ${user_id}`
  return user?.operator
})

interface LimitedUser extends Omit<RequestUser, "operator"> {
  readonly limit: number
  readonly now_ms: number
}

/** Rate windows of a user: one for each of those that a key has, and one for reads of the session. */
export type Window = RateLimit.Bucket | "session"

const limitOf = (window: Window): number =>
  window === "session" ? RateLimit.SESSION_READS_PER_MINUTE : RateLimit.SESSION_PER_MINUTE[window]

/**
 * Admits one request of a user: reads the membership in the account's database, and at home the user, and counts the request
 * in a rate window of the user.
 */
export const admit = Effect.fn("Members.admit")(function* (user_id: string, window: Window) {
  const sql = yield* Sql
  const found = sql<LimitedUser>`
    SELECT m.user_id, m.account_id, m.role, m.status,
      greatest((a.record -> 'granted' ->> ${window}::text)::int, ${limitOf(window)}::int) AS "limit",
      floor(extract(epoch FROM statement_timestamp()) * 1000)::float8 AS now_ms
    FROM members m JOIN accounts a ON a.account_id = m.account_id
    WHERE m.user_id = ${user_id} AND m.status <> 'removed'`
  const [member] = yield* Databases.ofUser(user_id, found)
  const operator = member === undefined ? undefined : yield* isOperator(user_id)
  if (member === undefined || operator === undefined) return Option.none()
  const { limit, now_ms, ...user } = member
  const [counted] = yield* RateWindows.count(yield* HomeSql, new Map([[`${user_id}/${window}`, 1]]))
  const total = counted?.count ?? 1
  return Option.some({
    user: { ...user, operator } satisfies RequestUser,
    standing: RateLimit.windowState(limit, total, now_ms),
    refusal:
      total <= limit
        ? undefined
        : new RateLimit.RequestRateExceeded({
            bucket: window === "session" ? "other" : window,
            limit,
            retry_after_s: RateLimit.retryAfterSeconds(now_ms),
          }),
  })
})
