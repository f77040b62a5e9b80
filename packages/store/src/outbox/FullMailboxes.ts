import { PgClient } from "@effect/sql-pg"
import * as Address from "@waybill/domain/values/Address"
import * as Id from "@waybill/domain/values/Id"
import { Effect } from "effect"
import * as EmailLog from "../readmodels/EmailLog.ts"
import * as PackedSql from "../packed/PackedSql.ts"

/** Returns how many messages since `sinceMillis` bounced for this address because its mailbox was full. */
export const bounces = Effect.fn("FullMailboxes.bounces")(function* (
  account_id: string,
  address: Address.Address,
  sinceMillis: number,
) {
  const sql = yield* PgClient.PgClient
  const [row] = yield* Effect.orDie(sql<{ readonly bounces: bigint }>`
    SELECT count(DISTINCT e.stream_id) AS bounces FROM email_log_terms t
    JOIN events e ON e.account_id = t.account_id AND e.stream_id = t.email_id AND e.type = 'EmailBounced'
    WHERE t.account_id = ${account_id} AND t.term = ${EmailLog.recipientTerm(address)}
      AND t.email_id >= ${Id.lowest("EmailId", sinceMillis)}
      AND ${PackedSql.field(sql, "e", "EmailBounced", "category")} = 'mailbox_full'
      AND lower(${PackedSql.field(sql, "e", "EmailBounced", "recipient")}) = ${Address.keyOf(address)}`)
  return Number(row?.bounces ?? 0n)
})
