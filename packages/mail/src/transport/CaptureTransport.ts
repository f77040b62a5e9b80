import { Effect, Layer } from "effect"
import * as MonotonicClock from "@waybill/domain/values/MonotonicClock"
import type { OutgoingMessage, RecipientOutcome } from "./Transport.ts"
import * as Transport from "./Transport.ts"

/** A mail of the sandbox, as the dashboard shows it. */
export interface Captured {
  readonly message: Omit<OutgoingMessage, "mailFrom"> & { readonly mailFrom: string }
  readonly recipients: ReadonlyArray<string>
}

/** Delay of `slow@`. */
export const SLOW_MS = 2_000
/** `deferred@` is delivered by the attempt after this one. */
export const DEFERRED_ATTEMPTS = 2

/**
 * The transport of the sandbox. Opens no socket. Every mail is delivered and kept, except to the simulator's addresses on domains under reserved
 * top-level names, whose outcomes pass through the service like those of a real server, but suppress nobody.
 */
export const layer = (keep: (captured: Captured) => Effect.Effect<void>): Layer.Layer<Transport.Transport> =>
  Layer.succeed(Transport.Transport, {
    kind: "capture",
    deliver: Effect.fn("CaptureTransport.deliver")(function* (
      message: OutgoingMessage,
      recipients: ReadonlyArray<string>,
    ) {
      const mayBegin = yield* Transport.MayBegin
      if (!mayBegin()) return recipients.map(Transport.notStarted)
      const outcomes = yield* Effect.forEach(recipients, (recipient) => simulate(message, recipient), {
        concurrency: "unbounded",
      })
      const delivered = outcomes.filter((outcome) => outcome.status === "delivered").map((outcome) => outcome.recipient)
      const mailFrom = message.mailFrom(recipients)
      if (delivered.length > 0) yield* keep({ message: { ...message, mailFrom }, recipients: delivered })
      return outcomes
    }),
  })

const simulate = Effect.fnUntraced(function* (
  message: OutgoingMessage,
  recipient: string,
): Effect.fn.Return<RecipientOutcome> {
  const startedAt = yield* MonotonicClock.millis
  const role = simulated(recipient)
  if (role === "slow") yield* Effect.sleep(SLOW_MS)
  const hop = { ...HOP, duration_ms: (yield* MonotonicClock.millis) - startedAt }
  const delivered = Transport.accepted(recipient, hop, { ...OK, text: `kept in the sandbox as ${message.emailId}` })
  switch (role) {
    case "bounced":
      return { ...Transport.refused(recipient, hop, NO_USER), simulated: true }
    case "deferred":
      return message.attempt <= DEFERRED_ATTEMPTS ? Transport.refused(recipient, hop, TRY_LATER) : delivered
    case "complained":
      return { ...delivered, followUp: "complained", simulated: true }
    case "suppressed":
      return { ...Transport.suppressed(recipient, hop), simulated: true }
    default:
      return delivered
  }
})

/** A label behind a plus keeps addresses apart: `bounced+1@acme.test`. */
const simulated = (recipient: string): string | undefined => SIMULATED.exec(recipient)?.[1]?.toLowerCase()

/** Names of RFC 2606 §2, under which there is no mailbox. */
const SIMULATED =
  /^(delivered|bounced|deferred|complained|suppressed|slow)(?:\+[^@]*)?@(?:[^@]+\.)?(?:test|example|invalid|localhost)$/iu

const HOP = { mx: "capture", tls: null }
const OK = { code: 250, enhancedCode: "2.0.0", stage: "end_of_data" } as const
const NO_USER = { code: 550, enhancedCode: "5.1.1", text: "no such user here (simulated)", stage: "rcpt" } as const
const TRY_LATER = {
  code: 451,
  enhancedCode: "4.3.0",
  text: "temporarily out of order (simulated)",
  stage: "rcpt",
} as const
