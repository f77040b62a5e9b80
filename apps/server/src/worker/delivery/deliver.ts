import * as Address from "@waybill/domain/values/Address"
import * as DeliveryOutcome from "@waybill/domain/email/DeliveryOutcome"
import * as Recipient from "@waybill/domain/email/Recipient"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Transport from "@waybill/mail/transport/Transport"
import * as Leases from "@waybill/store/outbox/Leases"
import * as PendingDeliveries from "@waybill/store/outbox/PendingDeliveries"
import * as Reclaim from "@waybill/store/outbox/Reclaim"
import * as Sandbox from "@waybill/store/content/Sandbox"
import { DateTime, Duration, Effect, Random, Result } from "effect"
import { type Attempted, judge, type Judgement, MAX_ATTEMPTS, type Policy } from "./evaluateAttempts.ts"
import { mailFrom, outgoing, type Sender, type Unsendable } from "./outgoing.ts"
import type { Job } from "../Pipeline.ts"
import { settle } from "./commitResult.ts"
import { SigningKeys } from "./SigningKeys.ts"
import { Transports } from "./Transports.ts"

/** However slow a server is: for whom an attempt has come to nothing by now, the answer was lost. */
export const ATTEMPT_LIMIT = Duration.minutes(10)

export interface Options extends Sender {
  /** Tests don't wait for minutes. */
  readonly attemptLimit?: Duration.Duration
  readonly nextAttempt: Policy["nextAttempt"]
}

/** One message: whoever is due, as things stand now, and what came of it. */
export const deliver = Effect.fn("deliver")(function* (
  job: Job,
  pending: PendingDeliveries.Pending | undefined,
  options: Options,
) {
  const now = Timestamp.fromDateTime(yield* DateTime.now)
  const { row } = job
  if (pending === undefined)
    return yield* Effect.die(new Error(`the outbox names a message that is not in the log: ${row.id}`))
  const { domain, message, suppressed } = pending
  const waiting = message.recipients.filter(Recipient.isUnfinished)
  const due = PendingDeliveries.due(message, now)
  if (waiting.length === 0) return yield* Leases.drop(row)
  if (domain === null) return yield* settle(job, message, without(waiting, "domain_removed"))
  if (due.length === 0) return yield* Leases.postpone(row, next(waiting, message.scheduled_at ?? now))

  const silenced = due.flatMap(({ address }): ReadonlyArray<DeliveryOutcome.Outcome> => {
    const reason = suppressed.get(Address.keyOf(address))
    return reason === undefined ? [] : [{ _tag: "Suppressed", recipient: address, reason }]
  })
  const tried = due.filter(({ address }) => !suppressed.has(Address.keyOf(address)))
  const spent = without(tried.filter(isSpent), "expired").outcomes
  const fresh = tried.filter((recipient) => !isSpent(recipient))
  const known: Judgement = { ...NOTHING, outcomes: [...silenced, ...spent] }
  if (fresh.length === 0) return yield* settle(job, message, known)

  const attempted = yield* Effect.result(attempt(job, pending, fresh, options))
  if (Result.isFailure(attempted)) {
    if (attempted.failure === "not started") return yield* job.giveBack
    const { category, message: response } = attempted.failure
    return yield* settle(job, message, merge(known, without(fresh, category, response)))
  }
  const heard = new Set(attempted.success.map(({ recipient }) => recipient))
  const lost = fresh.filter((recipient) => !heard.has(recipient))
  const others = waiting.filter((recipient) => !due.includes(recipient))
  const random = yield* Random.next
  const judged = judge(Timestamp.fromDateTime(yield* DateTime.now), attempted.success, others, {
    nextAttempt: options.nextAttempt,
    due_since: message.scheduled_at ?? message.accepted.created_at,
    random,
  })
  yield* settle(job, message, withLost(merge(judged, known), lost))
})

/** We had to stop before their servers had answered. They are tried again at once, so nobody else holds up the row. */
const withLost = (judgement: Judgement, lost: ReadonlyArray<Recipient.Recipient>): Judgement =>
  lost.length === 0
    ? judgement
    : {
        ...judgement,
        outcomes: [
          ...judgement.outcomes,
          ...lost.map(({ address, attempts }) => ({
            _tag: "AttemptLost" as const,
            recipient: address,
            attempt: attempts + 1,
          })),
        ],
        held_until: null,
      }

/** Attempts whose answer was heard, and those that were lost, count each for themselves. */
const isSpent = ({ attempts, lost }: Recipient.Recipient): boolean =>
  attempts - lost >= MAX_ATTEMPTS || lost >= Reclaim.MAX_LOST

const NOTHING: Judgement = { outcomes: [], complained: [], suppress: [], doubtful: [], held_until: null }

const merge = (one: Judgement, other: Judgement): Judgement => ({
  ...one,
  outcomes: [...one.outcomes, ...other.outcomes],
})

/** They fail for a cause that is not theirs. */
const without = (
  recipients: ReadonlyArray<Recipient.Recipient>,
  category: string,
  response: string | null = null,
): Judgement => ({
  ...NOTHING,
  outcomes: recipients.map(({ address }) => ({
    _tag: "Failed",
    recipient: address,
    words: { ...DeliveryOutcome.SILENCE, category, response },
  })),
})

const next = (waiting: ReadonlyArray<Recipient.Recipient>, first: Timestamp.Timestamp): Timestamp.Timestamp =>
  waiting.map(({ next_attempt_at }) => next_attempt_at ?? first).reduce(Timestamp.earliest)

/** Over the wire, in as few transactions as their numbers of attempts allow. */
const attempt = Effect.fnUntraced(function* (
  job: Job,
  pending: PendingDeliveries.Pending,
  recipients: ReadonlyArray<Recipient.Recipient>,
  options: Options,
) {
  const { domain, message } = pending
  const all = (category: string, response: string) =>
    recipients.map((recipient): Attempted => ({ recipient, outcome: trouble(recipient, category, response) }))
  const { row } = job
  const { choose } = yield* Transports
  const transport = choose(domain?.transport ?? null)
  if (transport === undefined) return all("not_configured", `this instance has no transport "${domain?.transport}"`)
  const keys = domain === null ? [] : yield* (yield* SigningKeys).of(row.account_id, domain)
  // What stays on this machine may go without; what leaves it, never.
  if (keys.length === 0 && transport.kind !== "capture")
    return all("signing", "the domain's DKIM key could not be opened")
  const made = yield* Effect.result(outgoing(row.account_id, pending, options, keys))
  if (Result.isFailure(made)) {
    if (made.failure._tag === "SigningFailed") return all("signing", made.failure.message)
    return yield* Effect.fail<Unsendable | "not started">(made.failure)
  }
  let refused = false
  const begin = () => {
    const begun = job.start()
    refused ||= !begun
    return begun
  }
  const groups = Map.groupBy(recipients, ({ attempts }) => attempts)
  const heard = new Map<string, Transport.Outcome>()
  const sending = Effect.forEach(
    groups,
    ([attempts, group]) => {
      const addresses = group.map(({ address }) => address)
      const limit = options.attemptLimit ?? ATTEMPT_LIMIT
      const mail = {
        ...made.success,
        emailId: message.accepted.email_id,
        mailFrom: (to: ReadonlyArray<string>) => mailFrom(options, message, to),
        attempt: attempts + 1,
      }
      return transport.deliver(mail, addresses).pipe(
        Effect.provideService(Transport.Begin, begin),
        Effect.provideService(Sandbox.Mail, { account_id: row.account_id, subject: message.accepted.subject }),
        Effect.provideService(Transport.Heard, (outcome) => void heard.set(outcome.recipient, outcome)),
        // One server that says nothing must not undo what the others have taken: that would be sent again.
        Effect.timeoutOrElse({
          duration: limit,
          orElse: () => Effect.succeed(addresses.map((address) => heard.get(address) ?? gaveUp(address, limit))),
        }),
        Effect.map((outcomes) =>
          group.map((recipient, i) => {
            const outcome = outcomes[i] ?? gaveUp(recipient.address, limit)
            heard.set(recipient.address, outcome)
            return { recipient, outcome }
          }),
        ),
      )
    },
    { concurrency: "unbounded" },
  )
  const attempted = yield* orSoFar(
    job,
    recipients,
    heard,
    Effect.map(sending, (outcomes) => outcomes.flat()),
  )
  // Nothing has left this machine, and we are to stop: somebody else shall have it at once.
  const untouched = refused && attempted.every(({ outcome }) => outcome.no_attempt)
  return untouched ? yield* Effect.fail<Unsendable | "not started">("not started") : attempted
})

/** Nor must the end of this process undo what servers have taken: by then it is what has been heard. */
const orSoFar = <R>(
  job: Job,
  recipients: ReadonlyArray<Recipient.Recipient>,
  heard: ReadonlyMap<string, Transport.Outcome>,
  sending: Effect.Effect<ReadonlyArray<Attempted>, never, R>,
) => {
  const soFar = (): ReadonlyArray<Attempted> =>
    recipients.flatMap((recipient) => {
      const outcome = heard.get(recipient.address)
      return outcome === undefined ? [] : [{ recipient, outcome }]
    })
  const areThere = () => soFar().some(({ outcome }) => !outcome.no_attempt)
  return Effect.raceFirst(sending, Effect.map(job.lastWords(areThere), soFar))
}

const gaveUp = (address: string, limit: Duration.Duration): Transport.Outcome =>
  Transport.deferred(address, Transport.NOWHERE, "lost_answer", `no answer within ${Duration.toMinutes(limit)} minutes`)

const trouble = ({ address }: Recipient.Recipient, category: string, response: string): Transport.Outcome => ({
  ...Transport.deferred(address, Transport.NOWHERE, "unavailable", response),
  category: category as Transport.Category,
})
