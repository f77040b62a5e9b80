import * as Livemode from "@waybill/domain/account/Livemode"
import type { AccountId, InboundId } from "@waybill/domain/values/Id"
import { Effect } from "effect"
import { Sql } from "../postgres/Sql.ts"

/** A call that tells a webhook of a received mail. */
export interface ReceivedCall {
  readonly inbound_id: string
  readonly webhook_id: string
  readonly status: "pending" | "delivered" | "failed"
}

/** Lists the calls for mails, as far as they are kept. */
export const list = Effect.fn("ReceivedCalls.list")(function* (account_id: AccountId, ids: ReadonlyArray<InboundId>) {
  const sql = yield* Sql
  return yield* sql<ReceivedCall>`
    SELECT e.stream_id AS inbound_id, d.webhook_id, d.status
    FROM events e
    JOIN webhooks w ON w.account_id = ${Livemode.liveAccountOf(account_id)}
    JOIN webhook_deliveries d ON d.account_id = w.account_id AND d.webhook_id = w.id AND d.event_id = e.event_id
    WHERE e.account_id = ${account_id} AND e.stream_id = ANY(${ids}::text[]) AND e.version = 1`
})
