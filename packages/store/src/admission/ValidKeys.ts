import { Effect } from "effect"
import * as Databases from "../routing/Databases.ts"
import type { GroupRow } from "./AdmissionStatement.ts"
import * as RateWindows from "./RateWindows.ts"
import { Sql } from "../postgres/Sql.ts"

/**
 * Returns whether a key is valid at this moment from this address, or why it is not. No request is counted: an SMTP login
 * is not a request, and the key is checked again between the start of a message and its acceptance.
 */
export const check = Effect.fn("ValidKeys.check")(function* (hash: string, address: string) {
  const sql = yield* Sql
  const client = RateWindows.clientAddress(address).text ?? ""
  const checked = sql<Pick<GroupRow, "verdict">>`
    SELECT CASE
        WHEN revoked_at IS NOT NULL THEN 'revoked'
        WHEN expires_at <= statement_timestamp() THEN 'expired'
        WHEN cardinality(allowed_ips) > 0 AND NOT address_is_allowed(${client}, allowed_ips) THEN 'address_not_allowed'
        ELSE 'valid'
      END AS verdict
    FROM api_keys WHERE hash = ${hash}`
  const [row] = yield* Databases.ofKey(hash, checked)
  return row?.verdict ?? "unknown"
})
