import type { PgClient } from "@effect/sql-pg"
import * as Address from "@waybill/domain/values/Address"
import * as Email from "@waybill/domain/email/Email"
import type { AccountId, SuppressionId } from "@waybill/domain/values/Id"
import * as DeliveryOutcome from "@waybill/domain/email/DeliveryOutcome"
import * as Recipient from "@waybill/domain/email/Recipient"
import * as Suppression from "@waybill/domain/suppression/Suppression"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Reply from "@waybill/mail/reply/Reply"
import type { Fact } from "@waybill/mail/incoming/ReportFact"
import type { Bounced } from "@waybill/mail/tokens/ReturnPath"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as FullMailboxes from "@waybill/store/outbox/FullMailboxes"
import { following, Provenance } from "@waybill/store/commit/Provenance"
import type { Append, View } from "@waybill/store/commit/Commit"
import { Clock, Data, Effect, Result } from "effect"
import { newId } from "../operate/fresh.ts"
import { WHOLE_MESSAGE } from "../worker/delivery/outgoing.ts"

export interface About extends Bounced {
  readonly account_id: AccountId
  /** Who brought the report. */
  readonly address: string
}

/**
 * It speaks of a recipient whom this attempt may have handed over, and the log does not say so yet: a server may report
 * sooner than its answer is written down. Taken now, it would be lost.
 */
export class TooEarly extends Data.TaggedError("TooEarly")<{}> {}

/** What a report says about one recipient of the message, and what that does to the address. */
interface Learnt {
  readonly recipient: Address.Address
  /** Others carry the same return path, so this may be the word of any of them. */
  readonly shared: boolean
  readonly fact: Fact
  readonly suppress: Suppression.Reason | undefined
  readonly suppression_id: SuppressionId
}

/**
 * Appends what a report tells, and in the same commit suppresses the address it is about, if it is one that should be.
 * Answers with the number of events; a report that comes again tells nothing.
 */
export const recordReport = Effect.fn("recordReport")(function* (
  { account_id, address, ...bounced }: About,
  facts: ReadonlyArray<Fact>,
): Effect.fn.Return<number, TooEarly, EventStore | PgClient.PgClient> {
  const { emailId } = bounced
  const store = yield* EventStore
  const { history, state } = yield* store.load(Email, { account_id, stream_id: emailId })
  if (state._tag === "Unborn") return 0
  const learnt = yield* Effect.forEach(attribute(state, bounced, facts), ({ fact, recipient, shared }) =>
    Effect.gen(function* () {
      const suppression_id = yield* newId("SuppressionId")
      return {
        fact,
        recipient,
        shared,
        suppression_id,
        suppress: shared ? undefined : yield* reasonOf(account_id, recipient, fact),
      } satisfies Learnt
    }),
  )
  if (learnt.length === 0) return 0
  return yield* store
    .transact({
      account_id,
      streams: [
        { aggregate: Email, id: emailId },
        ...learnt
          .filter(({ suppress }) => suppress !== undefined)
          .map(({ recipient }) => ({ aggregate: Suppression, id: Suppression.streamId(recipient) })),
      ],
      // Held until the commit, for an attempt that ends meanwhile decides whether the report is about it.
      ...(learnt.some(({ shared }) => shared) ? { needs: { outbox: [emailId] } } : {}),
      decide: (view) => decide(view, emailId, learnt),
    })
    .pipe(
      Effect.map((committed) => (committed._tag === "Committed" ? committed.answer : 0)),
      Effect.catch((refusal) => {
        if (refusal === "nothing new") return Effect.succeed(0)
        return refusal === "too early" ? Effect.fail(new TooEarly()) : Effect.die(refusal)
      }),
      Effect.provideService(Provenance, { ...following(history[0]), address }),
    )
})

const decide = (
  view: View,
  emailId: About["emailId"],
  learnt: ReadonlyArray<Learnt>,
): Result.Result<
  {
    readonly append: ReadonlyArray<Append>
    readonly answer: number
  },
  "nothing new" | "too early"
> => {
  const now = view.now as Timestamp.Timestamp
  const isUnderWay = (view.facts.outbox(emailId)?.lease_token ?? null) !== null
  const events: Array<Email.Event> = []
  const suppressed: Array<Append> = []
  let state = view.state<Email.State>(Email, emailId)
  for (const each of learnt) {
    const decision = decisionOf(now, each)
    if (decision === undefined) continue
    if (each.shared && isWaiting(state, each.recipient)) {
      if (isUnderWay) return Result.fail("too early")
      continue
    }
    const decided = decision(state)
    if (Result.isFailure(decided)) continue
    events.push(...decided.success)
    state = decided.success.reduce(Email.evolve, state)
    if (each.suppress === undefined) continue
    const id = Suppression.streamId(each.recipient)
    const added = Suppression.add(
      now,
      each.suppression_id,
      each.recipient,
      each.suppress,
      emailId,
    )(view.state<Suppression.State>(Suppression, id))
    if (Result.isSuccess(added)) suppressed.push({ aggregate: Suppression, id, events: added.success })
  }
  return events.length === 0
    ? Result.fail("nothing new")
    : Result.succeed({ append: [{ aggregate: Email, id: emailId, events }, ...suppressed], answer: events.length })
}

/** To whom nothing was handed over yet: another who shares the return path must not be able to end his mail. */
const isWaiting = (state: Email.State, recipient: Address.Address): boolean =>
  state._tag === "Message" &&
  state.recipients.some((each) => each.address === recipient && Recipient.isUnfinished(each))

/** A delay changes nothing: the server that reports it goes on trying. */
const decisionOf = (now: Timestamp.Timestamp, { fact, recipient }: Learnt) => {
  switch (fact.kind) {
    case "bounce":
      return Email.recordBounced(now, recipient, words(fact))
    case "delivered":
      return Email.recordDelivered(now, recipient, words(fact))
    case "complaint":
      return Email.recordComplained(now, recipient, fact.action ?? null)
    case "delayed":
      return undefined
  }
}

const words = (fact: Fact): DeliveryOutcome.Words => ({
  ...DeliveryOutcome.SILENCE,
  code: Number(/(?:^|\D)([245]\d\d)[ -]/u.exec(fact.diagnostic ?? "")?.[1] ?? 0) || null,
  enhanced_code: fact.status ?? null,
  response: fact.diagnostic ?? null,
  mx: fact.remoteMta ?? fact.reportingMta ?? null,
  category: fact.verdict?.class ?? null,
})

/**
 * Which recipient each fact is about. A return path of one recipient decides it, whatever address a forward has made of
 * it; only where one transaction carried several does the report have to name them. Each recipient is spoken of once.
 */
const attribute = (
  message: Email.Message,
  bounced: Bounced,
  facts: ReadonlyArray<Fact>,
): ReadonlyArray<Pick<Learnt, "recipient" | "shared" | "fact">> => {
  const carriers = carriersOf(message, bounced)
  const [only, ...others] = carriers
  if (only !== undefined && others.length === 0) {
    const fact = facts.find((fact) => names(fact, only.address)) ?? facts[0]
    return fact === undefined ? [] : [{ recipient: only.address, shared: false, fact }]
  }
  return carriers.flatMap(({ address }) => {
    const fact = facts.find((fact) => names(fact, address))
    return fact === undefined ? [] : [{ recipient: address, shared: true, fact }]
  })
}

/** Whose transaction can have carried this return path. */
const carriersOf = (
  { recipients }: Email.Message,
  { recipientIndex, scope }: Bounced,
): ReadonlyArray<Recipient.Recipient> => {
  if (recipientIndex === WHOLE_MESSAGE) return recipients
  const named = recipients[recipientIndex]
  if (named === undefined) return []
  if (scope === undefined) return [named]
  return recipients.filter(({ address }) => Address.domainOf(address) === Address.domainOf(named.address))
}

const names = ({ originalRecipient, recipient }: Fact, address: Address.Address): boolean =>
  [originalRecipient, recipient].some((text) => {
    const parsed = text === undefined ? undefined : Address.parseAddress(text)
    return parsed !== undefined && Result.isSuccess(parsed) && Address.keyOf(parsed.success) === Address.keyOf(address)
  })

const reasonOf = Effect.fnUntraced(function* (
  account_id: AccountId,
  recipient: Address.Address,
  { kind, verdict }: Fact,
) {
  if (kind === "complaint") return "complaint" as const
  if (kind !== "bounce" || verdict === undefined || verdict.suppress === "never") return undefined
  if (verdict.suppress === "now") return "hard_bounce" as const
  // A full mailbox may be emptied; one that stays full has nobody to empty it. This bounce counts too.
  const since = (yield* Clock.currentTimeMillis) - Reply.MAILBOX_FULL_WINDOW_DAYS * Timestamp.DAY
  const before = yield* FullMailboxes.bounces(account_id, recipient, since)
  return before + 1 >= Reply.MAILBOX_FULL_BOUNCES ? ("hard_bounce" as const) : undefined
})
