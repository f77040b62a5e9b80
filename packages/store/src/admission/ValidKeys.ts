import { PgClient } from "@effect/sql-pg"
import type { AccountId, ApiKeyId } from "@waybill/domain/values/Id"
import { Effect, Option } from "effect"
import * as RateWindows from "./RateWindows.ts"

export interface Holder {
  readonly account_id: AccountId
  readonly id: ApiKeyId
}

/**
 * Returns the holder of a key that is valid at this moment from this address. No request is counted: an SMTP login is not a
 * request, and the key is checked again between the start of a message and its acceptance.
 */
export const findHolder = Effect.fn("KeyStanding.valid")(function* (hash: string, address: string) {
  const sql = yield* PgClient.PgClient
  const client = RateWindows.clientAddress(address).text ?? ""
  const rows = yield* Effect.orDie(sql<Holder>`
    SELECT account_id, id FROM api_keys
    WHERE hash = ${hash} AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > statement_timestamp())
      AND (cardinality(allowed_ips) = 0 OR address_is_allowed(${client}, allowed_ips))`)
  return Option.fromUndefinedOr(rows[0])
})
