import type * as Recipient from "@waybill/domain/email/Recipient"
import * as Transport from "@waybill/mail/transport/Transport"
import { Context, Duration, Effect, type Exit, Fiber } from "effect"
import type { Attempted } from "./evaluateAttempts.ts"
import type { PipelineJob } from "../Pipeline.ts"

export interface Transactions {
  readonly sending: ReadonlyArray<Effect.Effect<ReadonlyArray<Transport.RecipientOutcome>>>
  /** Adds what transports learn about the message. */
  readonly provide: <R>(context: Context.Context<R>) => Context.Context<R>
  /** Maximum time of all of them. */
  readonly limit: Duration.Duration
}

/**
 * Runs the transactions of a message and returns the outcome of each recipient. A server that does not reply must not undo
 * what other servers have accepted, which would be sent again: at the limit the other recipients count as lost, and once
 * the time to stop has passed, only the outcomes so far are returned.
 */
export const collectOutcomes = (
  job: PipelineJob,
  recipients: ReadonlyArray<Recipient.Recipient>,
  { limit, provide, sending: transactions }: Transactions,
): Effect.Effect<ReadonlyArray<Attempted>> => {
  const reported = new Map<string, Transport.RecipientOutcome>()
  const report = (outcome: Transport.RecipientOutcome) => void reported.set(outcome.recipient, outcome)
  const soFar = (): ReadonlyArray<Attempted> =>
    recipients.flatMap((recipient) => {
      const outcome = reported.get(recipient.address)
      return outcome === undefined ? [] : [{ recipient, outcome }]
    })
  const all = (): ReadonlyArray<Attempted> =>
    recipients.map((recipient) => ({
      recipient,
      outcome: reported.get(recipient.address) ?? timedOut(recipient.address, limit),
    }))
  const sent = transactions.map((transaction) => Effect.map(transaction, (outcomes) => outcomes.forEach(report)))
  const [only = Effect.void, ...others] = sent
  // Nearly every message has one transaction, which needs no fiber of its own.
  const sending = others.length === 0 ? only : Effect.all(sent, { concurrency: "unbounded", discard: true })
  const exist = () => soFar().some(({ outcome }) => !outcome.no_attempt)
  return Effect.withFiber((parent) =>
    Effect.callback((resume) => {
      let result = all
      const conclude = (exit: Exit.Exit<void>) => {
        clearTimeout(timer)
        resume(isEnded ? Effect.sync(result) : Effect.map(exit, result))
      }
      let isEnded = false
      // Callbacks instead of a race, which would cost two more fibers a message.
      const end = (collect: () => ReadonlyArray<Attempted>) => () => {
        if (isEnded) return
        isEnded = true
        result = collect
        fiber.interruptUnsafe()
      }
      const timer = setTimeout(end(all), Duration.toMillis(limit))
      job.onPartialResults({ exist, request: end(soFar) })
      const fiber = Effect.runForkWith(provide(Context.add(parent.context, Transport.OutcomeReported, report)))(sending)
      fiber.addObserver(conclude)
      return Fiber.interrupt(fiber)
    }),
  )
}

const timedOut = (address: string, limit: Duration.Duration): Transport.RecipientOutcome =>
  Transport.deferred(address, Transport.NO_HOP, "lost_answer", `no answer within ${Duration.toMinutes(limit)} minutes`)
