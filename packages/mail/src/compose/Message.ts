import * as Address from "@waybill/domain/values/Address"
import * as Header from "@waybill/domain/email/Header"
import * as SteeringHeader from "@waybill/domain/account/SteeringHeader"
import type { EmailId } from "@waybill/domain/values/Id"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import { Result, Schema } from "effect"
import * as MediaType from "./MediaType.ts"
import * as MimeHeader from "./MimeHeader.ts"
import type * as TrackedHtml from "./TrackedHtml.ts"

export interface Attachment {
  readonly filename: string
  readonly content: Uint8Array
  readonly contentType?: string | undefined
  /** Without angle brackets; the HTML refers to it as `cid:…`. */
  readonly contentId?: string | undefined
  /** Whether it is another form of the text, and no file. */
  readonly isAlternative?: boolean
  /** Whether it is the message itself, with its content fields, and is written byte for byte in place of all parts. */
  readonly isEntity?: boolean
}

export interface Message {
  /** The email's id. Message-ID and boundaries derive from it, so composing again gives the same bytes. */
  readonly id: EmailId
  readonly createdAt: Timestamp.Timestamp
  readonly from: Address.Mailbox
  readonly to: ReadonlyArray<Address.Mailbox>
  readonly cc?: ReadonlyArray<Address.Mailbox> | undefined
  /** Recipients of the envelope that never appear in the message. */
  readonly bcc?: ReadonlyArray<Address.Mailbox> | undefined
  readonly replyTo?: ReadonlyArray<Address.Mailbox> | undefined
  readonly subject: string
  readonly html?: string | undefined
  readonly text?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Names of the headers that may be written although providers obey them. */
  readonly allowedHeaders?: ReadonlyArray<string> | undefined
  readonly attachments?: ReadonlyArray<Attachment> | undefined
  /** https address that takes a one-click POST (RFC 8058). */
  readonly unsubscribeUrl?: string | undefined
  readonly tracking?: TrackedHtml.Addresses | undefined
  /** Headers that the service adds, each shorter than a line. One that the sender has set too is left out. */
  readonly ownHeaders?: ReadonlyArray<readonly [name: string, value: string]> | undefined
}

export class NotComposable extends Schema.TaggedError<NotComposable>()("NotComposable", {
  /** Name of the invalid field, as in a request. */
  field: Schema.String,
  reason: Schema.Literals([
    "line_break",
    "bad_address",
    "bad_header_name",
    "header_owned",
    "header_repeated",
    "unbroken_run",
    "bad_content_type",
    "bad_content_id",
    "bad_unsubscribe_url",
    "no_recipient",
  ]),
}) {
  override get message() {
    return `The message cannot be written: ${this.field}: ${this.reason}`
  }
}

type Refusal = NotComposable | undefined
const refuse = (field: string, reason: NotComposable["reason"]): NotComposable => new NotComposable({ field, reason })

/**
 * Refuses everything that could break a line, forge a header or exceed a header's length, so that composing is total.
 */
export const check = (message: Message): Refusal =>
  checkMailboxes(message) ??
  (MimeHeader.breaksLine(message.subject) ? refuse("subject", "line_break") : undefined) ??
  checkHeaders(message) ??
  checkUnsubscribe(message.unsubscribeUrl) ??
  first(message.attachments ?? [], checkAttachment)

const first = <A>(items: Iterable<A>, f: (item: A) => Refusal): Refusal => {
  for (const item of items) {
    const refusal = f(item)
    if (refusal !== undefined) return refusal
  }
  return undefined
}

const checkMailboxes = (message: Message): Refusal => {
  const { bcc = [], cc = [], replyTo = [], to } = message
  if (to.length + cc.length + bcc.length === 0) return refuse("to", "no_recipient")
  const fields = [
    ["from", [message.from]],
    ["to", to],
    ["cc", cc],
    ["bcc", bcc],
    ["reply_to", replyTo],
  ] as const
  return first(fields, ([field, list]) =>
    first<Address.Mailbox>(list, ({ address, name = "" }) => {
      if (MimeHeader.breaksLine(address) || MimeHeader.breaksLine(name)) return refuse(field, "line_break")
      // Events are decoded by a looser pattern; the wire requires the full grammar.
      return Result.getOrUndefined(Address.parseHeld(address)) === address ? undefined : refuse(field, "bad_address")
    }),
  )
}

const checkHeaders = (message: Message): Refusal => {
  const seen = new Set(message.replyTo === undefined || message.replyTo.length === 0 ? [] : ["reply-to"])
  return first(customHeaders(message), ([name, value]) => {
    const field = `headers.${Header.shownName(name)}`
    if (MimeHeader.breaksLine(name) || MimeHeader.breaksLine(value)) return refuse(field, "line_break")
    if (!Header.isName(name)) return refuse(field, "bad_header_name")
    if (Header.isServiceHeader(name)) return refuse(field, "header_owned")
    if (Header.tooLongRun(value.trim()) !== undefined) return refuse(field, "unbroken_run")
    const lower = name.toLowerCase()
    if (Header.SINGLE.has(lower) && seen.has(lower)) return refuse(field, "header_repeated")
    seen.add(lower)
    return undefined
  })
}

/**
 * Returns the message's own headers that may be written. Acceptance refuses all others; no server gets one even if the log
 * holds it, such as an imported log.
 */
export const customHeaders = ({ allowedHeaders, headers = {} }: Message): ReadonlyArray<[string, string]> =>
  Object.entries(headers).filter(([name]) => !Header.isReservedHeader(name) && !steers(name, allowedHeaders))

const steers = (name: string, allowed: ReadonlyArray<string> = SteeringHeader.NONE_ALLOWED): boolean =>
  SteeringHeader.isSteering(name) && !allowed.includes(name)

const checkUnsubscribe = (url: string | undefined): Refusal => {
  if (url === undefined) return undefined
  // RFC 8058 §3.1: an https URI; white space and angle brackets would end it.
  if (!/^https:\/\/[!-;=?-~]+$/.test(url)) return refuse("unsubscribe_url", "bad_unsubscribe_url")
  return url.length > Header.MAX_UNBROKEN_OCTETS ? refuse("unsubscribe_url", "unbroken_run") : undefined
}

const checkAttachment = ({ contentId, contentType, filename }: Attachment): Refusal => {
  if (MimeHeader.breaksLine(filename)) return refuse("attachments.filename", "line_break")
  if (contentType !== undefined && !MediaType.isMediaType(contentType)) {
    return refuse("attachments.content_type", "bad_content_type")
  }
  return contentId !== undefined && !CONTENT_ID.test(bareContentId(contentId))
    ? refuse("attachments.content_id", "bad_content_id")
    : undefined
}

/** Printable ASCII without white space and angle brackets; strict readers want an @, real ones do not. */
const CONTENT_ID = /^[!-;=?-~]{1,200}$/

/** Removes the angle brackets, with which customers often paste it. */
export const bareContentId = (contentId: string): string =>
  contentId.startsWith("<") && contentId.endsWith(">") ? contentId.slice(1, -1) : contentId
