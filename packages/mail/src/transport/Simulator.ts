import type * as Script from "@waybill/domain/email/Script"
import * as SimulatedSuppression from "@waybill/domain/explanation/SimulatedSuppression"
import * as MonotonicClock from "@waybill/runtime/flow/MonotonicClock"
import { Effect } from "effect"
import type { OutgoingMessage, RecipientOutcome } from "./Transport.ts"
import * as Transport from "./Transport.ts"

/** Delay of `slow@` and of a step `slow`. */
export const SLOW_MS = 2_000
/** `deferred@` is delivered by the attempt after this one. */
export const DEFERRED_ATTEMPTS = 2

/** Domains at which the simulator's addresses have an effect. */
export type Domains = "reserved" | "any"

type Message = Pick<OutgoingMessage, "attempt" | "emailId" | "scriptOf">

/**
 * Returns the outcome that the script of the message asks for, or else the name of the recipient. It passes through the
 * service like a server's.
 */
export const simulate = Effect.fnUntraced(function* (
  message: Message,
  recipient: string,
  domains: Domains,
): Effect.fn.Return<RecipientOutcome> {
  const startedAt = yield* MonotonicClock.millis
  const { action, reply, suppresses } = stepOf(message, recipient, domains)
  if (action === "slow") yield* Effect.sleep(SLOW_MS)
  const hop = { ...HOP, duration_ms: (yield* MonotonicClock.millis) - startedAt }
  const simulated = suppresses ? {} : { simulated: true as const }
  const answer = { ...OK, text: `kept in the sandbox as ${message.emailId}` }
  const delivered = Transport.accepted(recipient, hop, answer)
  switch (action) {
    case "deliver":
    case "slow":
      return delivered
    case "send":
      return Transport.accepted(recipient, hop, answer, "sent")
    case "fail":
      return Transport.failed(recipient, "connection", UNREACHABLE)
    case "defer":
      return { ...Transport.refused(recipient, hop, textOf(reply ?? TRY_LATER)), status: "deferred" }
    case "bounce":
      // A bounce, too, where a server's reply of this code would be tried again.
      return { ...Transport.refused(recipient, hop, textOf(reply ?? NO_USER)), ...simulated, status: "bounced" }
    case "complain":
      return { ...delivered, ...simulated, followUp: "complained" }
    case "suppress":
      return { ...Transport.suppressed(recipient, hop), simulated: true }
  }
})

const stepOf = ({ attempt, scriptOf }: Message, recipient: string, domains: Domains): Script.Step => {
  const script = scriptOf(recipient)
  if (script !== undefined) return script[attempt - 1] ?? DELIVER
  const [, name = "", labels = ""] =
    (domains === "any" || SimulatedSuppression.RESERVED.test(recipient) ? NAME.exec(recipient) : null) ?? []
  const step = STEPS.get(name.toLowerCase()) ?? DELIVER
  if (step.action === "defer" && attempt > DEFERRED_ATTEMPTS) return DELIVER
  return labels !== "" && labels.toLowerCase().split("+").includes("suppress") ? { ...step, suppresses: true } : step
}

/** A name and its labels, which keep addresses apart: `bounced+1@acme.test`. */
const NAME = /^([a-z-]+)((?:\+[^@]*)?)@/iu

const HOP = { mx: "capture", tls: null }
const OK = { code: 250, enhancedCode: "2.0.0", stage: "end_of_data" } as const
const NO_USER = { code: 550, enhancedCode: "5.1.1" } as const
const TRY_LATER = { code: 451, enhancedCode: "4.3.0" } as const

const UNREACHABLE = "no server could be reached (simulated)"

const step = (action: Script.Action, reply?: Script.Step["reply"]): Script.Step => ({
  action,
  reply,
  suppresses: false,
})
const DELIVER = step("deliver")

/** Outcome of each name of a recipient. */
export const STEPS: ReadonlyMap<string, Script.Step> = new Map([
  ["delivered", DELIVER],
  ["sent", step("send")],
  ["deferred", step("defer")],
  ["bounced", step("bounce")],
  ["soft-bounced", step("bounce", { code: 554, enhancedCode: "5.7.1" })],
  ["mailbox-full", step("bounce", { code: 552, enhancedCode: "5.2.2" })],
  ["failed", step("fail")],
  ["complained", step("complain")],
  ["suppressed", step("suppress")],
  ["slow", step("slow")],
])

const TEXTS: { readonly [enhancedCode: string]: string } = {
  "4.3.0": "temporarily out of order",
  "5.1.1": "no such user here",
  "5.2.2": "the mailbox is full",
  "5.7.1": "the message is against the policy of this server",
}

/** Only the codes decide about the outcome; the texts are for people. */
const textOf = ({ code, enhancedCode }: NonNullable<Script.Step["reply"]>) => ({
  code,
  enhancedCode,
  text: `${TEXTS[enhancedCode ?? ""] ?? "refused"} (simulated)`,
  stage: "rcpt" as const,
})
