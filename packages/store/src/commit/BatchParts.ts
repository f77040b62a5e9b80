import * as CanceledContent from "../content/CanceledContent.ts"
import * as InboundContent from "../content/InboundContent.ts"
import * as StoredContent from "../content/StoredContent.ts"
import * as AccountCounts from "../facts/AccountCounts.ts"
import * as UnsentRows from "../facts/UnsentRows.ts"
import * as UsageRows from "../facts/UsageRows.ts"
import * as StoredAnswers from "../idempotency/StoredAnswers.ts"
import type { BatchPart, OfAccount } from "../log/BatchPart.ts"
import * as DueWork from "../outbox/DueWork.ts"
import * as Accounts from "../readmodels/Accounts.ts"
import * as Domains from "../readmodels/Domains.ts"
import * as Suppressions from "../readmodels/Suppressions.ts"
import * as CurrentTemplates from "../readmodels/templates/CurrentTemplates.ts"
import * as Templates from "../readmodels/templates/Templates.ts"
import * as TestClocks from "../readmodels/TestClocks.ts"
import * as Subscriptions from "../webhooks/Subscriptions.ts"

/**
 * The parts of a batch beside events and read models (`ReadModels.ts`), by the names under which decisions see facts. Rows
 * are locked in this order: usage before leases, which are only checked when everything is written, and unsent mail last, as
 * the commits of outcomes write it after their outbox rows.
 */
const PARTS = {
  domain: Domains.fact,
  suppression: Suppressions.fact,
  alias: Templates.fact,
  template: CurrentTemplates.fact,
  countOf: AccountCounts.fact,
  account: Accounts.fact,
  answers: StoredAnswers.part,
  content: StoredContent.part,
  inbound: InboundContent.part,
  acceptedIn: UsageRows.part,
  canceled: CanceledContent.part,
  subscriptions: Subscriptions.part,
  outbox: DueWork.part,
  clock: TestClocks.fact,
  unsent: UnsentRows.part,
}

/** The parts by name, in their order. */
export const all: ReadonlyArray<readonly [name: string, part: BatchPart]> = Object.entries<BatchPart>(PARTS)

type Parts = typeof PARTS
type NeedsOf<P> = P extends BatchPart<infer Needs, infer _Fact, infer _Row> ? Needs : never
type FactOf<P> = P extends BatchPart<infer _Needs, infer Fact, infer _Row> ? Fact : never
type Intersected<U> = (U extends unknown ? (each: U) => void : never) extends (all: infer I) => void ? I : never

/** Facts that a decision needs beside its own streams. The needs of a whole batch are read in one statement. */
export type Needs = Intersected<NeedsOf<Parts[keyof Parts]>>
export type AccountNeeds = OfAccount & Needs

export type Facts = {
  readonly [Name in keyof Parts as unknown extends FactOf<Parts[Name]> ? never : Name]: FactOf<Parts[Name]>
}
