import type * as EmailState from "@waybill/domain/email/EmailState"
import type * as Id from "@waybill/domain/values/Id"
import * as Turn from "@waybill/runtime/flow/Turn"
import * as ArcSeal from "@waybill/mail/dkim/ArcSeal"
import type * as Dkim from "@waybill/mail/dkim/Dkim"
import { type ForwardedMail, forwardedMail } from "@waybill/mail/inbound/forwardedMail"
import * as FeedbackToken from "@waybill/mail/tokens/FeedbackToken"
import * as Parser from "@waybill/mail/parsing/Parser"
import * as InboundContent from "@waybill/store/content/InboundContent"
import * as InboundMail from "@waybill/store/readmodels/Inbound"
import * as Acceptance from "@waybill/domain/email/Acceptance"
import { Effect, Option } from "effect"
import type { MarksOf } from "../../links/ForwardMarks.ts"
import type { FeedbackHeaders } from "./feedbackHeaders.ts"

/** The name and the marks of this installation in a forwarded mail. */
export interface Forwarder {
  /** Name of this server. */
  readonly server: string
  readonly marksOf: MarksOf
}

/** Makes the bytes of a forwarded mail, the same in each attempt, or says why there are none. */
export const compose = Effect.fn("ForwardedMessages.compose")(function* (
  account_id: Id.AccountId,
  message: EmailState.AcceptedEmail,
  inbound_id: Id.InboundId,
  { marksOf, server }: Forwarder,
  feedbackHeaders: FeedbackHeaders | undefined,
) {
  const { domain, email_id } = message.accepted
  const mail = Option.getOrUndefined(yield* InboundMail.find(account_id, inbound_id))
  const bytes = Option.getOrUndefined(yield* InboundContent.find(account_id, inbound_id))
  if (mail === undefined || bytes === undefined) return "content_expired"
  const { at, auth, envelope, from } = mail
  yield* Turn.afterLarge(bytes.length)
  // Senders sign Feedback-ID, and a second one could break that.
  const own = feedbackHeaders?.(account_id, message) ?? []
  const forwarded = forwardedMail(bytes, {
    inbound_id,
    at,
    auth,
    envelope,
    server,
    author: from?.address ?? "",
    headers: [...marksOf(envelope.to), ...own.filter(([name]) => name === FeedbackToken.HEADER)],
    messageId: Acceptance.messageIdOf(email_id, domain),
  })
  return forwarded ?? "not_composable"
})

/**
 * Adds the seal of the domain that answers for the forward. Receivers that check it see what the sender's own signatures
 * proved here. The body is hashed on a thread: strangers decide how long that takes.
 */
export const seal = Effect.fn("ForwardedMessages.seal")(function* (
  account_id: Id.AccountId,
  { bytes, findings, smtpUtf8 }: ForwardedMail,
  keys: ReadonlyArray<Dkim.Key>,
) {
  // RFC 8617 knows RSA alone.
  const key = keys.find(({ algorithm }) => algorithm === "rsa") ?? keys[0]
  if (findings === undefined || key === undefined) return { bytes, smtpUtf8 }
  const hash = yield* Effect.option(Parser.run("body_hash", bytes, account_id, { patient: true }))
  if (Option.isNone(hash)) return { bytes, smtpUtf8 }
  const set = yield* ArcSeal.seal(bytes, findings, key, hash.value)
  return { bytes: Buffer.concat([Buffer.from(set, "latin1"), bytes]), smtpUtf8 }
})
