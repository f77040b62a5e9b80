import type { Tracking } from "@waybill/domain/domain/Tracking"
import type { Unsent } from "@waybill/domain/email/UnsentMail"
import type { AccountId } from "@waybill/domain/values/Id"
import type { SubscriptionFact } from "../webhooks/Subscriptions.ts"
import type { StoredAccount } from "../readmodels/Accounts.ts"
import type { ClockFact } from "../readmodels/TestClocks.ts"
import type { Current } from "../readmodels/templates/CurrentTemplates.ts"
import type { LeaseFact } from "../outbox/OutboxRow.ts"
import type { CountedKind } from "./AccountCounts.ts"

/** Facts that a decision needs beside its own streams. The needs of a whole batch are read in one statement. */
export interface Needs {
  /** Names of sending domains. */
  readonly domains?: ReadonlyArray<string>
  /** Addresses whose suppression matters, in lower case. */
  readonly addresses?: ReadonlyArray<string>
  /** UTC month whose usage is needed, with the account's plan; the usage stays locked until the commit. */
  readonly month?: string
  /** UTC month whose content of unsent mail is needed; it stays locked until the commit. */
  readonly unsent?: string
  /** Ids of outbox rows, which stay locked until the commit. */
  readonly outbox?: ReadonlyArray<string>
  /** Ids of test clocks whose time the decision needs; they do not move until the commit. */
  readonly clocks?: ReadonlyArray<string>
  /** Ids of emails, for the test clocks that they live on. */
  readonly clocksOf?: ReadonlyArray<string>
  /** Aliases of templates. */
  readonly aliases?: ReadonlyArray<string>
  /** Ids or aliases of templates whose current version the decision needs. */
  readonly templates?: ReadonlyArray<string>
  /** Kind of object to count in the account. The commit gets a batch of its own, so that the count holds until its end. */
  readonly countOf?: CountedKind
}
export type AccountNeeds = Needs & { readonly account_id: AccountId }

export interface DomainFact {
  readonly id: string
  readonly name: string
  readonly status: string
  readonly tracking?: Tracking | null
}
export interface Facts {
  readonly account: (account: AccountId) => StoredAccount | undefined
  readonly domain: (account: AccountId, name: string) => DomainFact | undefined
  /** Reason of an active suppression. */
  readonly suppression: (account: AccountId, address: string) => string | undefined
  /** Recipients accepted in a month so far. */
  readonly acceptedIn: (account: AccountId, month: string) => number
  /** Content stored for unsent mail of a month. */
  readonly unsent: (account: AccountId, month: string) => Unsent
  readonly outbox: (id: string) => LeaseFact | undefined
  readonly countOf: (account: AccountId, kind: CountedKind) => number
  /** Id of the template that has an alias. */
  readonly alias: (account: AccountId, alias: string) => string | undefined
  /** Current version of the template that has an id or alias. */
  readonly template: (account: AccountId, name: string) => Current | undefined
  readonly clock: (account: AccountId, id: string) => ClockFact | undefined
  readonly subscriptions: (account: AccountId) => ReadonlyArray<SubscriptionFact>
}
