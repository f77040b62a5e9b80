import * as MonotonicClock from "@waybill/domain/values/MonotonicClock"
import { Effect } from "effect"
import type { OutgoingMessage, RecipientOutcome } from "./Transport.ts"
import * as Transport from "./Transport.ts"

/** Delay of `slow@`. */
export const SLOW_MS = 2_000
/** `deferred@` is delivered by the attempt after this one. */
export const DEFERRED_ATTEMPTS = 2

/** Domains at which the simulator's addresses have an effect. */
export type Domains = "reserved" | "any"

/** Returns the outcome that the name of the recipient asks for. It passes through the service like a server's. */
export const simulate = Effect.fnUntraced(function* (
  message: Pick<OutgoingMessage, "attempt" | "emailId">,
  recipient: string,
  domains: Domains,
): Effect.fn.Return<RecipientOutcome> {
  const startedAt = yield* MonotonicClock.millis
  const role = roleOf(recipient, domains)
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
const roleOf = (recipient: string, domains: Domains): string | undefined =>
  domains === "reserved" && !RESERVED.test(recipient) ? undefined : SIMULATED.exec(recipient)?.[1]?.toLowerCase()

const SIMULATED = /^(delivered|bounced|deferred|complained|suppressed|slow)(?:\+[^@]*)?@/iu
/** Names of RFC 2606 §2, under which there is no mailbox. */
const RESERVED = /@(?:[^@]+\.)?(?:test|example|invalid|localhost)$/iu

const HOP = { mx: "capture", tls: null }
const OK = { code: 250, enhancedCode: "2.0.0", stage: "end_of_data" } as const
const NO_USER = { code: 550, enhancedCode: "5.1.1", text: "no such user here (simulated)", stage: "rcpt" } as const
const TRY_LATER = {
  code: 451,
  enhancedCode: "4.3.0",
  text: "temporarily out of order (simulated)",
  stage: "rcpt",
} as const
