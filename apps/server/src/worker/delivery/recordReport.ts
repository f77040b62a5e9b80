import * as Address from "@waybill/domain/values/Address"
import * as Email from "@waybill/domain/email/Email"
import * as EmailReport from "@waybill/domain/email/EmailReport"
import type * as EmailState from "@waybill/domain/email/EmailState"
import type { AccountId } from "@waybill/domain/values/Id"
import * as DeliveryOutcome from "@waybill/domain/email/DeliveryOutcome"
import * as Recipient from "@waybill/domain/email/Recipient"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import type { ReportFact } from "@waybill/mail/report/ReportFact"
import type { Bounced } from "@waybill/mail/tokens/ReturnPath"
import * as Databases from "@waybill/store/routing/Databases"
import { EventStore } from "@waybill/store/commit/EventStore"
import { following, Provenance } from "@waybill/store/log/Provenance"
import type { Append, View } from "@waybill/store/commit/Commit"
import { Data, Effect, Result } from "effect"
import type { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import * as NewIds from "../../process/NewIds.ts"
import * as NewSuppression from "./NewSuppression.ts"
import * as OutgoingMessages from "./OutgoingMessages.ts"

/** The recipients that a report is about. */
type Reported = Omit<Bounced, "accountStart">

export interface About extends Reported {
  readonly account_id: AccountId
  /** Address of the client that delivered the report. */
  readonly address: string
}

/**
 * The report is about a recipient of an attempt in flight, whose outcome is not in the log yet: a server may report before
 * its reply is committed. The report would be lost if it were accepted now.
 */
class TooEarly extends Data.TaggedError("TooEarly")<{}> {}

/** Fact of a report about one recipient, and the suppression that follows from it. */
interface RecipientFact {
  readonly recipient: Address.Address
  /** Whether other recipients have the same return path, so that any of their servers may have sent the report. */
  readonly shared: boolean
  readonly fact: ReportFact
  readonly suppress: NewSuppression.NewSuppression | undefined
}

/**
 * Appends the facts of a report, and suppresses its address in the same commit if need be. Returns the number of events,
 * which is 0 for a report that was recorded before.
 */
export const recordReport = (about: About, facts: ReadonlyArray<ReportFact>) =>
  Databases.ofAccount(about.account_id, recordHere(about, facts))

const recordHere = Effect.fn("recordReport")(function* (
  { account_id, address, ...bounced }: About,
  facts: ReadonlyArray<ReportFact>,
) {
  const { emailId } = bounced
  const store = yield* EventStore
  const { history, state } = yield* store.load(Email, { account_id, stream_id: emailId })
  if (state._tag === "NotCreated") return 0
  const recipientFacts = yield* Effect.forEach(attribute(state, bounced, facts), ({ fact, recipient, shared }) =>
    Effect.gen(function* () {
      const reason = shared ? undefined : yield* reasonOf(account_id, recipient, fact)
      const suppress =
        reason === undefined
          ? undefined
          : { address: recipient, reason, suppression_id: yield* NewIds.newId("SuppressionId") }
      return { fact, recipient, shared, suppress } satisfies RecipientFact
    }),
  )
  if (recipientFacts.length === 0) return 0
  return yield* store
    .transact({
      account_id,
      streams: [
        { aggregate: Email, id: emailId },
        ...recipientFacts.flatMap(({ suppress }) => suppress ?? []).map(NewSuppression.streamOf),
      ],
      // Locks the row until the commit, since an attempt that ends meanwhile decides which report applies.
      ...(recipientFacts.some(({ shared }) => shared) ? { needs: { outbox: [emailId] } } : {}),
      decide: (view) => decide(view, emailId, recipientFacts),
    })
    .pipe(
      Effect.catch((refusal): Effect.Effect<number, TooEarly | StoreUnavailable> => {
        if (refusal === "nothing new") return Effect.succeed(0)
        if (refusal === "too early") return Effect.fail(new TooEarly())
        return Effect.fail(refusal)
      }),
      Effect.provideService(Provenance, { ...following(history[0]), address }),
    )
})

const decide = (view: View, emailId: About["emailId"], recipientFacts: ReadonlyArray<RecipientFact>) => {
  const now = view.now
  const isInFlight = (view.facts.outbox(emailId)?.lease_token ?? null) !== null
  const { events, state, take } = NewSuppression.decisionsOn(view.state<Email.State>(Email, emailId))
  const suppressed: Array<Append> = []
  for (const each of recipientFacts) {
    const decision = decisionOf(now, each)
    if (decision === undefined) continue
    if (each.shared && isWaiting(state(), each.recipient)) {
      if (isInFlight) return Result.fail("too early" as const)
      continue
    }
    if (take(decision) && each.suppress !== undefined)
      suppressed.push(...NewSuppression.append(view, each.suppress, emailId))
  }
  return events.length === 0
    ? Result.fail("nothing new" as const)
    : Result.succeed({ append: [{ aggregate: Email, id: emailId, events }, ...suppressed], answer: events.length })
}

/** Whether no server has accepted the mail for a recipient yet: others with the same return path must not end it. */
const isWaiting = (state: Email.State, recipient: Address.Address): boolean =>
  state._tag === "Message" &&
  state.recipients.some((each) => each.address === recipient && Recipient.isUnfinished(each))

/** Returns the decision for a fact. A delay changes nothing, since the server that reports it keeps trying. */
const decisionOf = (now: Timestamp.Timestamp, { fact, recipient }: RecipientFact) => {
  switch (fact.kind) {
    case "bounce":
      return EmailReport.recordBounced(now, recipient, responseOf(fact))
    case "delivered":
      return EmailReport.recordDelivered(now, recipient, responseOf(fact))
    case "complaint":
      return EmailReport.recordComplained(now, recipient, fact.action ?? null)
    case "delayed":
      return undefined
  }
}

const responseOf = (fact: ReportFact): DeliveryOutcome.ServerResponse => ({
  ...DeliveryOutcome.NO_RESPONSE,
  code: Number(/(?:^|\D)([245]\d\d)[ -]/u.exec(fact.diagnostic ?? "")?.[1] ?? 0) || null,
  enhanced_code: fact.status ?? null,
  response: fact.diagnostic ?? null,
  mx: fact.remoteMta ?? fact.reportingMta ?? null,
  category: fact.verdict?.class ?? null,
})

/**
 * Assigns one fact to each recipient. The return path of a single recipient decides, whatever address a forwarder reports;
 * only if a transaction had several recipients must the report name them.
 */
const attribute = (
  message: EmailState.AcceptedEmail,
  bounced: Reported,
  facts: ReadonlyArray<ReportFact>,
): ReadonlyArray<Pick<RecipientFact, "recipient" | "shared" | "fact">> => {
  const carriers = carriersOf(message, bounced)
  const [only, ...others] = carriers
  if (only !== undefined && others.length === 0) {
    const fact = facts.find((fact) => isAbout(fact, only.address)) ?? facts[0]
    return fact === undefined ? [] : [{ recipient: only.address, shared: false, fact }]
  }
  return carriers.flatMap(({ address }) => {
    const fact = facts.find((fact) => isAbout(fact, address))
    return fact === undefined ? [] : [{ recipient: address, shared: true, fact }]
  })
}

/** Returns the recipients of the transactions that can have had this return path. */
const carriersOf = (
  { recipients }: EmailState.AcceptedEmail,
  { recipientIndex, scope }: Reported,
): ReadonlyArray<Recipient.Recipient> => {
  if (recipientIndex === OutgoingMessages.WHOLE_MESSAGE) return recipients
  const named = recipients[recipientIndex]
  if (named === undefined) return []
  if (scope === undefined) return [named]
  return recipients.filter(({ address }) => Address.domainOf(address) === Address.domainOf(named.address))
}

const isAbout = ({ originalRecipient, recipient }: ReportFact, address: Address.Address): boolean =>
  [originalRecipient, recipient].some((text) => {
    const parsed = text === undefined ? undefined : Address.parseHeld(text)
    return parsed !== undefined && Result.isSuccess(parsed) && Address.keyOf(parsed.success) === Address.keyOf(address)
  })

const reasonOf = Effect.fnUntraced(function* (
  account_id: AccountId,
  recipient: Address.Address,
  { kind, verdict }: ReportFact,
) {
  if (kind === "complaint") return "complaint" as const
  if (kind !== "bounce" || verdict === undefined || verdict.suppress === "never") return undefined
  if (verdict.suppress === "now") return "hard_bounce" as const
  return (yield* NewSuppression.isAbandoned(account_id, recipient)) ? ("hard_bounce" as const) : undefined
})
