import type { PgClient } from "@effect/sql-pg"
import * as Address from "@waybill/domain/values/Address"
import type * as Email from "@waybill/domain/email/Email"
import * as Compose from "@waybill/mail/compose/Compose"
import * as Dkim from "@waybill/mail/dkim/Dkim"
import type { Message } from "@waybill/mail/compose/Message"
import * as Parser from "@waybill/mail/parsing/Parser"
import type { Addresses, HtmlEdits } from "@waybill/mail/compose/TrackedHtml"
import type { OutgoingMessage } from "@waybill/mail/transport/Transport"
import * as ReturnPath from "@waybill/mail/tokens/ReturnPath"
import * as Content from "@waybill/store/content/Content"
import type { PendingDelivery } from "@waybill/store/outbox/PendingDeliveries"
import { Data, DateTime, Effect, Option, Result } from "effect"
import type { FeedbackHeaders } from "./feedbackHeaders.ts"
import type { Track } from "../../links/TrackedLinks.ts"

/** Index in the return path of a transaction with recipients of several domains, as to a relay. */
export const WHOLE_MESSAGE = ReturnPath.RECIPIENT_INDEX_LIMIT - 1

export interface Sender {
  readonly returnPath: { readonly secretKey: Uint8Array; readonly domain: string }
  /** Https URL of one-click unsubscription, if the message can have one. */
  readonly unsubscribeUrl?: (message: Email.Message) => string | undefined
  readonly track?: Track
  /** Headers by which complaints about a message are found. */
  readonly feedbackHeaders?: FeedbackHeaders
}

/** A message that can never be sent. */
export class Unsendable extends Data.TaggedError("Unsendable")<{
  readonly category: "content_expired" | "not_composable"
  readonly message: string
}> {}

/**
 * Composes a message from the log and its content, so that each attempt has the same bytes. Only the host of tracked links
 * depends on the settings at the moment.
 */
export const compose = Effect.fnUntraced(function* (
  account_id: string,
  { content: loaded, domain, message }: Pick<PendingDelivery, "content" | "domain" | "message">,
  { feedbackHeaders, track, unsubscribeUrl }: Pick<Sender, "feedbackHeaders" | "track" | "unsubscribeUrl">,
  parsing: Parser.Options = {},
): Effect.fn.Return<Pick<OutgoingMessage, "bytes" | "smtpUtf8">, Unsendable | Parser.Busy, PgClient.PgClient> {
  const { accepted } = message
  const content = loaded === undefined ? yield* Content.findComplete(account_id, accepted.content) : Option.some(loaded)
  if (Option.isNone(content)) {
    return yield* new Unsendable({ category: "content_expired", message: "the body of this message is kept no longer" })
  }
  const { attachments, html, text } = content.value
  const mail: Message = {
    id: accepted.email_id,
    createdAt: DateTime.makeUnsafe(accepted.created_at),
    from: accepted.from,
    to: accepted.to,
    cc: accepted.cc,
    bcc: accepted.bcc,
    replyTo: accepted.reply_to,
    subject: accepted.subject,
    html: html ?? undefined,
    text: text ?? undefined,
    headers: accepted.headers,
    attachments: attachments.map(({ bytes, content_id, content_type, filename }) => ({
      filename,
      content: bytes,
      contentType: content_type,
      contentId: content_id ?? undefined,
    })),
    unsubscribeUrl: accepted.list_unsubscribe ? unsubscribeUrl?.(message) : undefined,
    tracking: track?.(account_id, message, domain),
    ownHeaders: feedbackHeaders?.(account_id, message),
  }
  const result = Compose.compose(mail, yield* derived(account_id, mail, parsing))
  return Result.isFailure(result)
    ? yield* new Unsendable({ category: "not_composable", message: result.failure.message })
    : result.success
})

const UNTRACKED: HtmlEdits = { edits: [], pixel: undefined }

/**
 * Derives the text part and the places to track from the HTML, with bounded work. If the parser is stopped, the message is
 * still sent, without a text part and with its links unchanged.
 */
const derived = Effect.fnUntraced(function* (
  account_id: string,
  mail: Message,
  parsing: Parser.Options,
): Effect.fn.Return<Compose.Derived, Parser.Busy> {
  const { html, text, tracking } = mail
  if (html === undefined) return {}
  const derivedText = Parser.run("text", html, account_id, parsing).pipe(
    Effect.catchTag("Killed", () => Effect.succeed("")),
  )
  const editsFor = (tracking: Addresses) =>
    Parser.run("links", Compose.linksIn(mail, html, tracking), account_id, parsing).pipe(
      Effect.catchTag("Killed", () => Effect.succeed(UNTRACKED)),
    )
  return {
    text: text ?? (yield* derivedText),
    edits: tracking === undefined ? undefined : yield* editsFor(tracking),
  }
})

/** Composes and signs a message once for all its recipients. */
export const composeAndSign = Effect.fnUntraced(function* (
  account_id: string,
  pending: Pick<PendingDelivery, "content" | "domain" | "message">,
  sender: Sender,
  keys: ReadonlyArray<Dkim.Key>,
): Effect.fn.Return<Pick<OutgoingMessage, "bytes" | "smtpUtf8">, Unsendable | Dkim.SigningFailed, PgClient.PgClient> {
  // No more messages wait than are delivered at once, so none is refused as busy.
  const { bytes, smtpUtf8 } = yield* compose(account_id, pending, sender, { patient: true }).pipe(
    Effect.catchTag("Busy", Effect.die),
  )
  return { bytes: keys.length === 0 ? bytes : yield* Dkim.sign(bytes, keys), smtpUtf8 }
})

/** Returns the return path for these recipients. Their servers see it, so it names only recipients they may report on. */
export const returnPathFor = (
  { returnPath }: Sender,
  message: Email.Message,
  recipients: ReadonlyArray<string>,
): string => {
  const index = message.recipients.findIndex(({ address }) => address === recipients[0])
  const domains = new Set(recipients.map((recipient) => Address.domainOf(recipient as Address.Address)))
  const isNamed = domains.size === 1 && index >= 0 && index < WHOLE_MESSAGE
  return ReturnPath.make(returnPath.secretKey, returnPath.domain, {
    emailId: message.accepted.email_id,
    recipientIndex: isNamed ? index : WHOLE_MESSAGE,
    ...(isNamed && recipients.length > 1 ? { scope: "domain" } : {}),
  })
}
