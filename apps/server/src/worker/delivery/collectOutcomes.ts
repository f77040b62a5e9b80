import type * as Recipient from "@waybill/domain/email/Recipient"
import * as Transport from "@waybill/mail/transport/Transport"
import { Deferred, Duration, Effect, Exit } from "effect"
import type { Attempted } from "./evaluateAttempts.ts"
import type { PipelineJob } from "../Pipeline.ts"

export interface Transactions {
  readonly sending: (
    report: Transport.OutgoingMessage["report"],
  ) => ReadonlyArray<Effect.Effect<ReadonlyArray<Transport.RecipientOutcome>>>
  /** Maximum time of all of them. */
  readonly limit: Duration.Duration
}

/**
 * Runs the transactions of a message and returns the outcome of each recipient. A server that does not reply must not undo
 * what other servers have accepted, which would be sent again: at the limit the other recipients count as lost, and once
 * the time to stop has passed, only the outcomes so far are returned.
 */
export const collectOutcomes = Effect.fnUntraced(function* (
  job: PipelineJob,
  recipients: ReadonlyArray<Recipient.Recipient>,
  { limit, sending }: Transactions,
) {
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
  const stop = yield* Deferred.make<void>()
  job.onPartialResults({
    exist: () => soFar().some(({ outcome }) => !outcome.no_attempt),
    request: () => Deferred.doneUnsafe(stop, Exit.void),
  })
  // Nearly every message has one transaction, which needs no fiber of its own.
  const sent = Effect.forEach(sending(report), (each) => Effect.map(each, (outcomes) => outcomes.forEach(report)), {
    concurrency: "unbounded",
    discard: true,
  })
  // The first to end interrupts the others and waits for them, so that outcomes which they still report count.
  const collect = yield* Effect.raceAllFirst([
    Effect.as(sent, all),
    Effect.as(Effect.sleep(limit), all),
    Effect.as(Deferred.await(stop), soFar),
  ])
  return collect()
})

const timedOut = (address: string, limit: Duration.Duration): Transport.RecipientOutcome =>
  Transport.deferred(address, Transport.NO_HOP, "lost_answer", `no answer within ${Duration.toMinutes(limit)} minutes`)
