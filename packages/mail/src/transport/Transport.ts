import type { EmailId } from "@waybill/domain/values/Id"
import { Context, Duration, type Effect } from "effect"
import * as Reply from "../reply/Reply.ts"
import type { Answer } from "../smtp/SmtpTransaction.ts"
import { type ConnectFailed, replyOf } from "../smtp/SmtpConnection.ts"

/** What an outcome keeps of a server's words. */
export const RESPONSE_LIMIT = 512

/** A message ready for the wire. Recipients are given beside it: a retry has fewer of them. */
export interface OutgoingMessage {
  readonly emailId: EmailId
  /** The return path of a transaction with these recipients: whoever carries it can speak of no others. */
  readonly mailFrom: (recipients: ReadonlyArray<string>) => string
  readonly bytes: Uint8Array
  /** A header needs RFC 6531; what a recipient needs beside that is seen at its address. */
  readonly smtpUtf8: boolean
  /** 1 is the first. */
  readonly attempt: number
}

/**
 * Why it did not arrive: what the server's reply means, or what went wrong before there was one. `lost_answer` is the
 * window after the final dot, in which the server may have kept the message.
 */
export type Category = Reply.Class | "connection" | "tls" | "dns" | "cooling_down" | "lost_answer"

export interface Outcome {
  readonly recipient: string
  /**
   * `sent` on a relay that confirms later; `failed` where we gave up for a reason of our own. A `deferred` is tried
   * again by whoever called.
   */
  readonly status: "delivered" | "sent" | "deferred" | "bounced" | "failed"
  readonly code: number | null
  readonly enhanced_code: string | null
  readonly response: string | null
  readonly mx: string | null
  readonly tls: string | null
  readonly duration_ms: number
  readonly category: Category | null
  /** What a bounce does to the address. */
  readonly suppress: "now" | "after_repeats" | "never"
  /** How long to wait at least, as the server asked or the site's pause lasts. */
  readonly retry_after_ms: number | null
  /** Nothing was tried, so the attempt is not counted. */
  readonly no_attempt: boolean
  /** A fact to append after the delivery: only the simulator knows such a thing at once. */
  readonly then: "complained" | null
}

export class Transport extends Context.Service<
  Transport,
  {
    readonly kind: "capture" | "relay" | "direct"
    /**
     * One outcome a recipient, in their order. Never fails: whatever the other side does is an outcome.
     */
    readonly deliver: (
      message: OutgoingMessage,
      recipients: ReadonlyArray<string>,
    ) => Effect.Effect<ReadonlyArray<Outcome>>
  }
>()("@waybill/mail/transport/Transport") {}

/**
 * Asked by a transport right before a message leaves this machine, after all waiting for a turn: false when whoever
 * called is stopping and wants it back untouched. Until it was asked, nothing was tried.
 */
export const Begin = Context.Reference<() => boolean>("@waybill/mail/Begin", { defaultValue: () => () => true })

/**
 * Told of each outcome as soon as it is final, while others of the same message are still open: whoever loses patience
 * with one recipient's server keeps what the others' have said.
 */
export const Heard = Context.Reference<(outcome: Outcome) => void>("@waybill/mail/Heard", {
  defaultValue: () => () => {},
})

/** Where and how a message was handed over. */
export interface Hop {
  readonly mx: string | null
  readonly tls: string | null
  readonly duration_ms: number
}

export const NOWHERE: Hop = { mx: null, tls: null, duration_ms: 0 }

const base = (recipient: string, hop: Hop) =>
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
    then: null,
  }) as const

const words = (reply: Reply.Reply) => ({
  code: reply.code,
  enhanced_code: reply.enhancedCode ?? null,
  response: cut(reply.text),
})

export const accepted = (
  recipient: string,
  hop: Hop,
  reply: Reply.Reply,
  status: "delivered" | "sent" = "delivered",
): Outcome => ({ ...base(recipient, hop), ...words(reply), status })

export const refused = (recipient: string, hop: Hop, reply: Reply.Reply): Outcome => {
  const verdict = Reply.classify(reply)
  return {
    ...base(recipient, hop),
    ...words(reply),
    status: verdict.action === "bounce" ? "bounced" : "deferred",
    category: verdict.class,
    suppress: verdict.suppress,
    retry_after_ms: verdict.hint === undefined ? null : Duration.toMillis(verdict.hint),
  }
}

export const deferred = (recipient: string, hop: Hop, category: Category, response: string): Outcome => ({
  ...base(recipient, hop),
  status: "deferred",
  category,
  response: cut(response),
})

/** Nothing was tried: the site asked for a pause, or all its connections are taken. */
export const held = (recipient: string, mx: string | null, retry_after_ms: number, response: string): Outcome => ({
  ...deferred(recipient, { ...NOWHERE, mx }, "cooling_down", response),
  retry_after_ms,
  no_attempt: true,
})

/** Given back at the caller's wish. */
export const notBegun = (recipient: string): Outcome => held(recipient, null, 0, "not begun")

/** Nobody was asked for it, nor was it to wait. */
export const isGivenBack = (outcome: Outcome): boolean => outcome.no_attempt && outcome.retry_after_ms === 0

/** We will not try this, today or ever. */
export const failed = (recipient: string, category: Category, response: string): Outcome => ({
  ...base(recipient, NOWHERE),
  status: "failed",
  category,
  response: cut(response),
})

/** `shared` when the answer may have been caused by another recipient of the same transaction. */
export const answered = (recipient: string, hop: Hop, answer: Answer, shared: boolean): Outcome => {
  switch (answer._tag) {
    case "Accepted":
      return accepted(recipient, hop, answer.reply, answer.confirms ? "sent" : "delivered")
    case "Refused":
      return blameless(refused(recipient, hop, answer.reply), answer.reply, shared)
    case "Lost":
      return answer.ambiguous
        ? deferred(recipient, hop, "lost_answer", `no answer after the end of the message: ${answer.detail}`)
        : deferred(recipient, hop, "connection", `connection lost at ${answer.stage}: ${answer.detail}`)
  }
}

/** Only an answer to RCPT is about one recipient: one to MAIL is about the sender, one to the data about all of them. */
const blameless = (outcome: Outcome, reply: Reply.Reply, shared: boolean): Outcome =>
  reply.stage === "rcpt" || (!shared && (reply.stage === "data" || reply.stage === "end_of_data"))
    ? outcome
    : { ...outcome, suppress: "never" }

/**
 * No session came to be. Even a 5xx in its place says nothing about the message or its recipient, so it is never final:
 * another day, or another address of ours, may be welcome.
 */
export const unconnected = (recipient: string, hop: Hop, failure: ConnectFailed): Outcome => {
  const reply = replyOf(failure)
  // Names of servers may be those of the operator's own network, and so may the time that it took to look them up.
  if (failure.trouble === "nowhere") {
    return deferred(recipient, NOWHERE, "dns", "no mail server of the domain has a public address")
  }
  if (reply === undefined) {
    const category = failure.trouble === "tls" || failure.trouble === "dns" ? failure.trouble : "connection"
    return deferred(recipient, hop, category, failure.message)
  }
  return { ...refused(recipient, hop, reply), status: "deferred", suppress: "never" }
}

const cut = (text: string): string => text.slice(0, RESPONSE_LIMIT)
