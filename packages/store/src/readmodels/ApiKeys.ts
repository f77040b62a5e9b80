import * as ApiKey from "@waybill/domain/account/ApiKey"
import type { Scope } from "@waybill/domain/account/Scope"
import type * as Id from "@waybill/domain/values/Id"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import { Effect, Option } from "effect"
import type { Fragment } from "effect/sql/Statement"
import * as Iso from "../postgres/Iso.ts"
import * as ReadModel from "./ReadModel.ts"
import { Sql, type Client } from "../postgres/Sql.ts"

/** Maximum number of revoked or expired keys in a list. The keys themselves are retained forever. */
export const MAX_ENDED_KEYS = 1_000

export const readModel = ReadModel.make({
  name: "api_keys",
  stream: ApiKey.stream,
  key: ["account_id", "id"],
  changes: ["version", "revoked_at", "record"],
  rows: ({ account_id, version }, state: ApiKey.State) => {
    if (state._tag === "NotCreated") return []
    const { created, revoked_at } = state
    const { allowed_ips, at, created_by, domain, expires_at, hash, key_id, name, prefix, scopes } = created
    return [
      {
        account_id,
        id: key_id,
        version,
        hash,
        scopes,
        domain,
        allowed_ips,
        expires_at,
        revoked_at,
        mode: ApiKey.modeOf(created),
        test_clock: ApiKey.clockOf(created) ?? null,
        record: {
          object: "api_key",
          id: key_id,
          name,
          prefix,
          ...(ApiKey.modeOf(created) === "test" ? { mode: "test" as const } : {}),
          ...(ApiKey.clockOf(created) === undefined ? {} : { test_clock: ApiKey.clockOf(created) }),
          scopes,
          domain,
          allowed_ips,
          created_at: at,
          created_by,
          expires_at,
          revoked_at,
        } satisfies StoredFields,
      },
    ]
  },
})

/** Fields of a key that follow from its history; the others depend on the time and on its use. */
interface StoredFields {
  readonly object: "api_key"
  readonly id: Id.ApiKeyId
  readonly name: string
  readonly prefix: string
  /** Absent for a live key. */
  readonly mode?: "test"
  /** Absent for a key on real time. */
  readonly test_clock?: Id.TestClockId | undefined
  readonly scopes: ReadonlyArray<Scope>
  readonly domain: string | null
  readonly allowed_ips: ReadonlyArray<string>
  readonly created_at: Timestamp.Timestamp
  readonly created_by: string | null
  readonly expires_at: Timestamp.Timestamp | null
  readonly revoked_at: Timestamp.Timestamp | null
}

export interface ApiKeyRecord extends Omit<StoredFields, "mode" | "test_clock"> {
  readonly test_clock: Id.TestClockId | null
  readonly mode: "live" | "test"
  readonly status: ApiKey.Status
  readonly last_used_at: Timestamp.Timestamp | null
}

const select = Effect.fnUntraced(function* (
  now: Timestamp.Timestamp,
  account_id: string,
  which: (sql: Client<unknown>) => Fragment,
) {
  const sql = yield* Sql
  const rows = yield* sql<{ readonly record: StoredFields; readonly last_used_at: Timestamp.Timestamp | null }>`
    SELECT k.record, ${Iso.iso(sql, "u.last_used_at")} AS last_used_at
    FROM api_keys k LEFT JOIN api_key_uses u ON u.account_id = k.account_id AND u.key_id = k.id
    WHERE k.account_id = ${account_id} AND ${which(sql)}
    ORDER BY k.id DESC`
  return rows.map(({ last_used_at, record }): ApiKeyRecord => ({
    ...record,
    mode: record.mode ?? "live",
    test_clock: record.test_clock ?? null,
    status: ApiKey.status(record, now),
    last_used_at,
  }))
})

/** Returns the keys of an account, newest first: all active ones and the latest revoked or expired ones. */
export const list = Effect.fn("ApiKeys.list")(function* (now: Timestamp.Timestamp, account_id: string) {
  return yield* select(
    now,
    account_id,
    (sql) => sql`k.id NOT IN (
      SELECT id FROM api_keys
      WHERE account_id = ${account_id} AND (revoked_at IS NOT NULL OR expires_at <= ${now}::timestamptz)
      ORDER BY id DESC OFFSET ${MAX_ENDED_KEYS}::int)`,
  )
})

export const find = (now: Timestamp.Timestamp, account_id: string, id: string) =>
  Effect.withSpan(
    Effect.map(
      select(now, account_id, (sql) => sql`k.id = ${id}`),
      (rows) => Option.fromUndefinedOr(rows[0]),
    ),
    "ApiKeys.find",
  )
