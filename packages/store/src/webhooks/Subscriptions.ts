import type { AccountId } from "@waybill/domain/values/Id"
import type * as WebhookFormat from "@waybill/domain/webhook/WebhookFormat"
import type { Client } from "../postgres/Sql.ts"

export interface SubscriptionFact {
  readonly account_id: AccountId
  readonly id: string
  readonly events: ReadonlyArray<string>
  readonly format: WebhookFormat.Format
}

/** Reads the subscriptions of accounts, given by their live ids. */
export const select = (sql: Client<unknown>, accounts: ReadonlyArray<string>) => sql`
  SELECT account_id, id, events, format FROM webhooks
  WHERE account_id = ANY(${accounts}::text[]) AND enabled AND NOT removed ORDER BY account_id, id`
