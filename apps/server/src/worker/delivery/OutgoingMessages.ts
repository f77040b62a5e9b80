import type { PgClient } from "@effect/sql-pg"
import * as Address from "@waybill/domain/values/Address"
import type { AccountId, InboundId } from "@waybill/domain/values/Id"
import * as Turn from "@waybill/runtime/flow/Turn"
import type * as EmailState from "@waybill/domain/email/EmailState"
import * as Compose from "@waybill/mail/compose/Compose"
import * as Dkim from "@waybill/mail/dkim/Dkim"
import type { Message } from "@waybill/mail/compose/Message"
import type { ForwardedMail } from "@waybill/mail/inbound/forwardedMail"
import * as Parser from "@waybill/mail/parsing/Parser"
import type { HtmlEdits } from "@waybill/mail/compose/TrackedHtml"
import type { OutgoingMessage } from "@waybill/mail/transport/Transport"
import * as ReturnPath from "@waybill/mail/tokens/ReturnPath"
import * as Content from "@waybill/store/content/Content"
import type { PendingDelivery } from "@waybill/store/facts/PendingDeliveries"
import { Data, Effect, Option, Result } from "effect"
import type { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import type { ReplyAddressOf } from "../../links/ReplyAddresses.ts"
import * as ForwardedMessages from "./ForwardedMessages.ts"
import type { FeedbackHeaders } from "./feedbackHeaders.ts"
import type { Track } from "../../links/TrackedLinks.ts"

/** Index in the return path of a transaction with recipients of several domains, as to a relay. */
export const WHOLE_MESSAGE = ReturnPath.RECIPIENT_INDEX_LIMIT - 1

export interface Sender {
  readonly returnPath: { readonly secretKey: Uint8Array; readonly domain: string }
  /** Https URL of one-click unsubscription, if the message can have one. */
  readonly unsubscribeUrl?: (account_id: AccountId, message: EmailState.AcceptedEmail) => string | undefined
  readonly track?: Track
  /** Headers by which complaints about a message are found. */
  readonly feedbackHeaders?: FeedbackHeaders
  /** Address that finds the message that an answer is for. */
  readonly replyAddress?: ReplyAddressOf
  readonly forwarder?: ForwardedMessages.Forwarder
}

/** The parts of a sender that the bytes of a message depend on. */
export type Composer = Pick<Sender, "feedbackHeaders" | "forwarder" | "replyAddress" | "track" | "unsubscribeUrl">

/** A message that can never be sent. */
export class Unsendable extends Data.TaggedError("Unsendable")<{
  readonly category: "content_expired" | "not_composable"
  readonly message: string
}> {}

type Composed = Pick<OutgoingMessage, "bytes" | "smtpUtf8"> & Partial<Pick<ForwardedMail, "findings">>

const EXPIRED = new Unsendable({ category: "content_expired", message: "the body of this message is kept no longer" })
const LARGE_HEADER = new Unsendable({
  category: "not_composable",
  message: "the header of this mail is too large to be forwarded",
})

/**
 * Composes a message from the log and its content, so that each attempt has the same bytes. Only the host of tracked links
 * depends on the settings at the moment.
 */
export const compose = (
  account_id: AccountId,
  pending: Pick<PendingDelivery, "content" | "domain" | "message">,
  sender: Composer,
  parsing: Parser.Options = {},
): Effect.Effect<Composed, Unsendable | Parser.Busy | StoreUnavailable, PgClient.PgClient> => {
  const { content: stored, forward_of } = pending.message.accepted
  if (forward_of !== undefined) return forwarded(account_id, pending.message, forward_of, sender)
  const write = (content: Content.CompleteContent) => {
    const mail = mailOf(account_id, pending, content, sender)
    const inTurn = Effect.tap(derived(account_id, mail, parsing), () => Turn.afterLarge(charsOf(mail)))
    return Effect.flatMap(inTurn, (parts) => {
      const result = Compose.compose(mail, parts)
      return Result.isSuccess(result)
        ? Effect.succeed(result.success)
        : Effect.fail(new Unsendable({ category: "not_composable", message: result.failure.message }))
    })
  }
  if (pending.content !== undefined) return Effect.suspend(() => write(pending.content as Content.CompleteContent))
  return Effect.flatMap(Content.findComplete(account_id, stored), (content) =>
    Option.isSome(content) ? write(content.value) : Effect.fail(EXPIRED),
  )
}

const forwarded = Effect.fnUntraced(function* (
  account_id: AccountId,
  message: EmailState.AcceptedEmail,
  inbound_id: InboundId,
  { feedbackHeaders, forwarder }: Composer,
) {
  if (forwarder === undefined) return yield* Effect.die(new Error("this process cannot forward mail"))
  const mail = yield* ForwardedMessages.compose(account_id, message, inbound_id, forwarder, feedbackHeaders)
  if (mail === "content_expired") return yield* EXPIRED
  return mail === "not_composable" ? yield* LARGE_HEADER : mail
})

const charsOf = ({ attachments = [], html = "", text = "" }: Message): number =>
  attachments.reduce((sum, { content }) => sum + content.length, html.length + text.length)

const mailOf = (
  account_id: AccountId,
  { domain, message }: Pick<PendingDelivery, "domain" | "message">,
  { attachments, html, text }: Content.CompleteContent,
  { feedbackHeaders, replyAddress, track, unsubscribeUrl }: Composer,
): Message => {
  const { accepted } = message
  return {
    id: accepted.email_id,
    createdAt: accepted.created_at,
    from: accepted.from,
    to: accepted.to,
    cc: accepted.cc,
    bcc: accepted.bcc,
    replyTo: replyToOf(account_id, message, replyAddress),
    subject: accepted.subject,
    html: html ?? undefined,
    text: text ?? undefined,
    headers: accepted.headers,
    allowedHeaders: accepted.allowed_headers,
    attachments: attachments.map(
      ({ alternative = false, bytes, content_id, content_type, entity = false, filename }) => ({
        filename,
        content: bytes,
        contentType: content_type,
        contentId: content_id ?? undefined,
        isAlternative: alternative,
        isEntity: entity,
      }),
    ),
    unsubscribeUrl: accepted.list_unsubscribe ? unsubscribeUrl?.(account_id, message) : undefined,
    tracking: track?.(account_id, message, domain),
    ownHeaders: feedbackHeaders?.(account_id, message),
  }
}

/** Answers that are tracked go to an address of the service, under the name that they would go to without it. */
const replyToOf = (
  account_id: AccountId,
  { accepted: { email_id, from, reply_to, reply_tracking } }: EmailState.AcceptedEmail,
  replyAddress: ReplyAddressOf | undefined,
): ReadonlyArray<Address.Mailbox> => {
  if (reply_tracking === undefined || replyAddress === undefined) return reply_to
  const { name } = reply_to[0] ?? from
  return [{ address: replyAddress(account_id, email_id), ...(name === undefined ? {} : { name }) }]
}

const UNTRACKED: HtmlEdits = { edits: [], pixel: undefined }

/**
 * Derives the text part and the places to track from the HTML, with bounded work. If the parser is stopped, the message is
 * still sent, without a text part and with its links unchanged.
 */
const derived = (
  account_id: AccountId,
  mail: Message,
  parsing: Parser.Options,
): Effect.Effect<Compose.Derived, Parser.Busy> => {
  const { html, text, tracking } = mail
  if (html === undefined) return Effect.succeed({})
  const derivedText =
    text === undefined
      ? Parser.run("text", html, account_id, parsing).pipe(Effect.catchTag("Killed", () => Effect.succeed("")))
      : Effect.succeed(text)
  if (tracking === undefined) return Effect.map(derivedText, (text) => ({ text }))
  const edits = Parser.run("links", Compose.linksIn(mail, html, tracking), account_id, parsing).pipe(
    Effect.catchTag("Killed", () => Effect.succeed(UNTRACKED)),
  )
  return Effect.flatMap(derivedText, (text) => Effect.map(edits, (edits) => ({ text, edits })))
}

/** Composes and signs a message once for all its recipients. */
export const composeAndSign = (
  account_id: AccountId,
  pending: Pick<PendingDelivery, "content" | "domain" | "message">,
  sender: Sender,
  keys: ReadonlyArray<Dkim.Key>,
): Effect.Effect<Composed, Unsendable | Dkim.SigningFailed | StoreUnavailable, PgClient.PgClient> =>
  // No more messages wait than are delivered at once, so none is refused as busy.
  Effect.flatMap(
    Effect.catchTag(compose(account_id, pending, sender, { patient: true }), "Busy", Effect.die),
    ({ bytes, findings, smtpUtf8 }) =>
      keys.length === 0
        ? Effect.succeed({ bytes, smtpUtf8 })
        : pending.message.accepted.forward_of !== undefined
          ? ForwardedMessages.seal(account_id, { bytes, findings, smtpUtf8 }, keys)
          : Turn.afterLarge(bytes.length).pipe(
              Effect.andThen(Dkim.sign(bytes, keys)),
              Effect.map((signed) => ({ bytes: signed, smtpUtf8 })),
            ),
  )

/** Returns the return path for these recipients. Their servers see it, so it names only recipients they may report on. */
export const returnPathFor = (
  { returnPath }: Sender,
  account_id: AccountId,
  message: EmailState.AcceptedEmail,
  recipients: ReadonlyArray<string>,
): string => {
  const index = message.recipients.findIndex(({ address }) => address === recipients[0])
  const [first, ...others] = recipients.map((recipient) => Address.domainOf(recipient as Address.Address))
  const isNamed = index >= 0 && index < WHOLE_MESSAGE && others.every((domain) => domain === first)
  return ReturnPath.make(returnPath.secretKey, returnPath.domain, {
    account_id,
    emailId: message.accepted.email_id,
    recipientIndex: isNamed ? index : WHOLE_MESSAGE,
    ...(isNamed && recipients.length > 1 ? { scope: "domain" } : {}),
  })
}
