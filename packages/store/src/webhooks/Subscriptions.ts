import type { AccountId } from "@waybill/domain/values/Id"
import type { Client } from "../postgres/Sql.ts"

export interface SubscriptionFact {
  readonly account_id: AccountId
  readonly id: string
  readonly events: ReadonlyArray<string>
}

/** Reads the subscriptions of accounts, given by their live ids. */
export const select = (sql: Client<unknown>, accounts: ReadonlyArray<string>) => sql`
  SELECT account_id, id, events FROM webhooks
  WHERE account_id = ANY(${accounts}::text[]) AND enabled AND NOT removed ORDER BY account_id, id`
