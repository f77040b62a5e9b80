import * as Address from "@waybill/domain/values/Address"
import * as Id from "@waybill/domain/values/Id"
import { Effect } from "effect"
import * as IdKey from "../postgres/IdKey.ts"
import * as TermKey from "../postgres/TermKey.ts"
import * as EmailLog from "../readmodels/emails/EmailLog.ts"
import * as PackedSql from "../packed/PackedSql.ts"
import { Sql } from "../postgres/Sql.ts"

/** Returns how many messages since `sinceMillis` bounced for this address because its mailbox was full. */
export const bounces = Effect.fn("FullMailboxes.bounces")(function* (
  account_id: string,
  address: Address.Address,
  sinceMillis: number,
) {
  const sql = yield* Sql
  const account = IdKey.of(account_id)
  const since = IdKey.of(Id.lowest("EmailId", sinceMillis))
  const key = TermKey.of(EmailLog.recipientTerm(address))
  const [row] = yield* sql<{ readonly bounces: bigint }>`
    SELECT count(DISTINCT e.stream_id) AS bounces FROM (
      SELECT id FROM email_log WHERE account_id = ${account}::uuid AND to_key = ${key}::bigint AND id >= ${since}::uuid
      UNION ALL SELECT email_id FROM email_log_terms
      WHERE account_id = ${account}::uuid AND term = ${key}::bigint AND email_id >= ${since}::uuid) AS sent(id)
    JOIN events e ON e.account_id = ${account_id} AND e.stream_id = id_of('msg', sent.id) AND e.type = 'EmailBounced'
    WHERE ${PackedSql.field(sql, "e", "EmailBounced", "category")} = 'mailbox_full'
      AND lower(${PackedSql.field(sql, "e", "EmailBounced", "recipient")}) = ${Address.keyOf(address)}`
  return Number(row?.bounces ?? 0n)
})
