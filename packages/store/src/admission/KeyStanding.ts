import { PgClient } from "@effect/sql-pg"
import type { AccountId, ApiKeyId } from "@waybill/domain/values/Id"
import { Effect, Option } from "effect"
import * as RateWindows from "./RateWindows.ts"

export interface Holder {
  readonly account_id: AccountId
  readonly id: ApiKeyId
}

/**
 * Whose key this is, if it holds at this moment from this address. Nothing is counted: a login is not a request, and a
 * key is asked about again between the beginning of a message and its acceptance.
 */
export const valid = Effect.fn("KeyStanding.valid")(function* (hash: string, address: string) {
  const sql = yield* PgClient.PgClient
  const from = RateWindows.clientAddress(address).text ?? ""
  const rows = yield* Effect.orDie(sql<Holder>`
    SELECT account_id, id FROM api_keys
    WHERE hash = ${hash} AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > statement_timestamp())
      AND (cardinality(allowed_ips) = 0 OR address_is_allowed(${from}, allowed_ips))`)
  return Option.fromUndefinedOr(rows[0])
})
