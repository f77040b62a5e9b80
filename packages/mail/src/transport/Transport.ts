import type { Script } from "@waybill/domain/email/Script"
import type { EmailId } from "@waybill/domain/values/Id"
import { Context, Duration, type Effect } from "effect"
import type { Category } from "../reply/Category.ts"
import * as Reply from "../reply/Reply.ts"
import type { Owner } from "../source/SourceAddress.ts"
import type { RecipientReply } from "../smtp/SmtpTransaction.ts"
import { type ConnectFailed, replyOf } from "../smtp/SmtpConnection.ts"

/** Characters of a server's reply that an outcome keeps. */
export const RESPONSE_LIMIT = 512

/** A message ready for sending. Recipients are passed beside it, since a retry has fewer of them. */
export interface OutgoingMessage {
  readonly emailId: EmailId
  readonly owner: Owner
  readonly subject: string
  /** Returns the return path of a transaction with these recipients; a report to it can concern no others. */
  readonly mailFrom: (recipients: ReadonlyArray<string>) => string
  readonly bytes: Uint8Array
  /** A header requires RFC 6531; for recipients this shows in their address. */
  readonly smtpUtf8: boolean
  /** 1 is the first. */
  readonly attempt: number
  /** Returns the simulated outcomes of the attempts at a recipient; undefined if its address decides. */
  readonly scriptOf: (recipient: string) => Script | undefined
  /**
   * Called right before the message leaves this machine, after all waiting: false when the caller is stopping and wants
   * the message back. Until this call nothing was tried.
   */
  readonly mayBegin?: () => boolean
  /**
   * Receives each outcome as soon as it is final, while others of the same message are still open: a caller that gives up
   * on one recipient's server keeps the other outcomes.
   */
  readonly report: (outcome: RecipientOutcome) => void
}

export interface RecipientOutcome {
  readonly recipient: string
  /**
   * `sent` to a relay that confirms later; `failed` for a reason of our own; `suppressed` only by the simulator. The
   * caller retries a `deferred` one.
   */
  readonly status: "delivered" | "sent" | "deferred" | "bounced" | "failed" | "suppressed"
  readonly code: number | null
  readonly enhanced_code: string | null
  readonly response: string | null
  readonly mx: string | null
  readonly tls: string | null
  readonly duration_ms: number
  readonly category: Category | null
  /** Effect of a bounce on the address. */
  readonly suppress: "now" | "after_repeats" | "never"
  /** Minimum delay, as requested by the server or caused by the site's pause. */
  readonly retry_after_ms: number | null
  /** Nothing was tried, so the attempt is not counted. */
  readonly no_attempt: boolean
  /** Event to append after the delivery; only the simulator knows one at once. */
  readonly followUp: "complained" | null
  /** The outcome is made up, and suppresses nobody. */
  readonly simulated?: true
  /** IP address of the server, and SHA-256 of its certificate in base64url; absent where unknown. */
  readonly address?: string
  readonly certificate_sha256?: string
}

export class Transport extends Context.Service<
  Transport,
  {
    readonly kind: "capture" | "relay" | "direct" | "nodemailer"
    /** Returns one outcome a recipient, in order. Never fails: anything that the other side does is an outcome. */
    readonly deliver: (
      message: OutgoingMessage,
      recipients: ReadonlyArray<string>,
    ) => Effect.Effect<ReadonlyArray<RecipientOutcome>>
  }
>()("@waybill/mail/transport/Transport") {}

/** Where and how a message was handed over. */
export interface Hop {
  readonly mx: string | null
  readonly tls: string | null
  readonly duration_ms: number
  readonly server?: Pick<RecipientOutcome, "address" | "certificate_sha256"> | undefined
}

export const NO_HOP: Hop = { mx: null, tls: null, duration_ms: 0 }

const baseOutcome = (recipient: string, hop: Hop) =>
  ({
    recipient,
    code: null,
    enhanced_code: null,
    response: null,
    mx: hop.mx,
    tls: hop.tls,
    duration_ms: hop.duration_ms,
    category: null,
    suppress: "never",
    retry_after_ms: null,
    no_attempt: false,
    followUp: null,
  }) as const

const replyFields = (reply: Reply.Reply) => ({
  code: reply.code,
  enhanced_code: reply.enhancedCode ?? null,
  response: shortened(reply.text),
})

export const accepted = (
  recipient: string,
  hop: Hop,
  reply: Reply.Reply,
  status: "delivered" | "sent" = "delivered",
): RecipientOutcome => ({ ...baseOutcome(recipient, hop), ...replyFields(reply), ...hop.server, status })

/** Accepted by a program that answers without a reply of SMTP. Its answer names the message, as far as it does. */
export const handedOver = (recipient: string, hop: Hop, response: string): RecipientOutcome => ({
  ...baseOutcome(recipient, hop),
  status: "delivered",
  response: shortened(response),
})

/** Refused for good by a provider, which keeps a list of its own: the address is not suppressed here. */
export const bounced = (recipient: string, hop: Hop, category: Category, response: string): RecipientOutcome => ({
  ...baseOutcome(recipient, hop),
  status: "bounced",
  category,
  response: shortened(response),
})

export const refused = (recipient: string, hop: Hop, reply: Reply.Reply): RecipientOutcome => {
  const verdict = Reply.classify(reply)
  return {
    ...baseOutcome(recipient, hop),
    ...replyFields(reply),
    status: verdict.action === "bounce" ? "bounced" : "deferred",
    category: verdict.class,
    suppress: verdict.suppress,
    retry_after_ms: verdict.hint === undefined ? null : Duration.toMillis(verdict.hint),
  }
}

/** The recipient counts as suppressed, without an attempt; only the simulator knows. */
export const suppressed = (recipient: string, hop: Hop): RecipientOutcome => ({
  ...baseOutcome(recipient, hop),
  status: "suppressed",
})

export const deferred = (recipient: string, hop: Hop, category: Category, response: string): RecipientOutcome => ({
  ...baseOutcome(recipient, hop),
  status: "deferred",
  category,
  response: shortened(response),
})

/** Nothing was tried: the site asked for a pause, or all its connections are in use. */
export const notAttempted = (
  recipient: string,
  mx: string | null,
  retry_after_ms: number,
  response: string,
): RecipientOutcome => ({
  ...deferred(recipient, { ...NO_HOP, mx }, "cooling_down", response),
  retry_after_ms,
  no_attempt: true,
})

/** Returned untouched at the caller's request. */
export const notStarted = (recipient: string): RecipientOutcome => notAttempted(recipient, null, 0, "not started")

/** Whether the attempt never started, so that it may be retried at once. */
export const isNotStarted = (outcome: RecipientOutcome): boolean => outcome.no_attempt && outcome.retry_after_ms === 0

/** A permanent failure for a reason of our own. */
export const failed = (recipient: string, category: Category, response: string): RecipientOutcome => ({
  ...baseOutcome(recipient, NO_HOP),
  status: "failed",
  category,
  response: shortened(response),
})

/** `shared` when another recipient of the same transaction may have caused the answer. */
export const answered = (recipient: string, hop: Hop, answer: RecipientReply, shared: boolean): RecipientOutcome => {
  switch (answer._tag) {
    case "Accepted":
      return accepted(recipient, hop, answer.reply, answer.confirms ? "sent" : "delivered")
    case "Refused":
      return limitSuppression(refused(recipient, hop, answer.reply), answer.reply, shared)
    case "Lost":
      return answer.ambiguous
        ? deferred(recipient, hop, "lost_answer", `no reply after the end of the message: ${answer.detail}`)
        : deferred(recipient, hop, "connection", `connection lost at ${answer.stage}: ${answer.detail}`)
  }
}

/**
 * Only an answer to RCPT is about one recipient: one to MAIL is about the sender, one to the data about all of them.
 */
const limitSuppression = (outcome: RecipientOutcome, reply: Reply.Reply, shared: boolean): RecipientOutcome =>
  reply.stage === "rcpt" || (!shared && (reply.stage === "data" || reply.stage === "end_of_data"))
    ? outcome
    : { ...outcome, suppress: "never" }

/** Sentence for the customer when a relay does not let this service log in. */
export const LOGIN_FAILED = "the relay did not accept the login of this service; its operator must mend that"

/**
 * No session was opened. Even a 5xx then says nothing about the message or its recipient, so it is never final: another
 * day, or another address of ours, may be accepted.
 */
export const unconnected = (recipient: string, hop: Hop, failure: ConnectFailed): RecipientOutcome => {
  const reply = replyOf(failure)
  // Hides names of servers, which may be in the operator's own network, and how long their look-up took.
  if (failure.kind === "nowhere") {
    return deferred(recipient, NO_HOP, "dns", "no mail server of the domain has a public address")
  }
  if (failure.stage === "auth" && (reply !== undefined || failure.kind === "protocol")) {
    return notLoggedIn(recipient, hop, reply)
  }
  if (failure.kind === "source") {
    return { ...deferred(recipient, hop, "source_absent", failure.message), no_attempt: true }
  }
  if (reply === undefined) {
    const { kind } = failure
    const category = kind === "tls" || kind === "dns" || kind === "dane" ? kind : "connection"
    return deferred(recipient, hop, category, failure.message)
  }
  return { ...refused(recipient, hop, reply), status: "deferred", suppress: "never" }
}

/** Only a relay asks for a login, which is the operator's: what it said about that is in the log. */
const notLoggedIn = (recipient: string, hop: Hop, reply: Reply.Reply | undefined): RecipientOutcome => ({
  ...(reply === undefined ? deferred(recipient, hop, "auth", "") : refused(recipient, hop, reply)),
  status: "deferred",
  suppress: "never",
  response: LOGIN_FAILED,
})

export const shortened = (text: string): string => text.slice(0, RESPONSE_LIMIT)
