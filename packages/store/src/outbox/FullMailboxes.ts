import { PgClient } from "@effect/sql-pg"
import * as Address from "@waybill/domain/values/Address"
import * as Id from "@waybill/domain/values/Id"
import { Effect } from "effect"
import * as EmailLog from "../readmodels/EmailLog.ts"

/** Returns how many messages since `sinceMillis` bounced for this address because its mailbox was full. */
export const bounces = Effect.fn("FullMailboxes.bounces")(function* (
  account_id: string,
  address: Address.Address,
  sinceMillis: number,
) {
  const sql = yield* PgClient.PgClient
  const [row] = yield* Effect.orDie(sql<{ readonly bounces: bigint }>`
    SELECT count(*) AS bounces FROM email_log_terms t
    JOIN email_log l ON l.account_id = t.account_id AND l.id = t.email_id
    CROSS JOIN LATERAL json_array_elements(l.record->'recipients') AS recipient
    WHERE t.account_id = ${account_id} AND t.term = ${EmailLog.recipientTerm(address)}
      AND t.email_id >= ${Id.lowest("EmailId", sinceMillis)}
      AND recipient->>'status' = 'bounced' AND recipient->'smtp'->>'category' = 'mailbox_full'
      AND lower(recipient->>'address') = ${Address.keyOf(address)}`)
  return Number(row?.bounces ?? 0n)
})
