import type { EmailMessage } from "@waybill/api/schemas/EmailMessage"
import * as Acceptance from "@waybill/domain/email/Acceptance"
import * as Address from "@waybill/domain/values/Address"
import type * as DomainName from "@waybill/domain/domain/DomainName"
import type * as DomainStatus from "@waybill/domain/domain/DomainStatus"
import * as Email from "@waybill/domain/email/Email"
import type * as Id from "@waybill/domain/values/Id"
import * as Plan from "@waybill/domain/account/Plan"
import type * as Suppression from "@waybill/domain/suppression/Suppression"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as MediaType from "@waybill/mail/compose/MediaType"
import { bareContentId } from "@waybill/mail/compose/Message"
import type { AccountRecord } from "@waybill/store/readmodels/Accounts"
import * as Content from "@waybill/store/content/Content"
import type { Needs } from "@waybill/store/commit/LogStorage"
import type { Decision, View } from "@waybill/store/commit/Commit"
import { Result } from "effect"

/** A message as it was asked for, and the bytes it is made of. */
export interface Draft {
  readonly command: Acceptance.Command
  readonly blobs: ReadonlyArray<Content.Blob>
  readonly original?: Acceptance.Facts["original"]
}

/** For which account, and with which key; a session of the dashboard has none. */
export interface Sender {
  readonly account_id: Id.AccountId
  readonly key: { readonly id: Id.ApiKeyId; readonly domain: DomainName.DomainName | null } | null
  /** Whether this instance has an address that links in mail can lead to. */
  readonly tracks: boolean
}

/** A text part that is missing is derived when the message is composed, so that accepting one stays cheap. */
export const draft = (message: EmailMessage): Draft => {
  const body = Content.encodeBody(message)
  const files = (message.attachments ?? []).map((file) => ({
    ...file,
    blob: Content.blob(Buffer.from(file.content, "base64")),
  }))
  const blobs = [body, ...files.map(({ blob }) => blob)]
  const { bcc, cc, from, headers, list_unsubscribe, reply_to, scheduled_at, subject, tags, to, tracking } = message
  const size_bytes = blobs.reduce((sum, { bytes }) => sum + bytes.length, 0)
  return {
    blobs,
    command: {
      from,
      to,
      cc,
      bcc,
      reply_to,
      subject,
      headers: headers ?? {},
      tags: [...new Set(tags ?? [])],
      scheduled_at,
      content: {
        sha256: body.sha256,
        has_html: message.html !== null,
        has_text: message.text !== null,
        attachments: files.map(({ blob, content_id, content_type, filename }) => ({
          filename,
          content_type: content_type ?? MediaType.fromFilename(filename),
          size_bytes: blob.bytes.length,
          content_id: content_id === null ? null : bareContentId(content_id),
          sha256: blob.sha256,
        })),
      },
      size_bytes,
      list_unsubscribe: list_unsubscribe ?? false,
      tracking: tracking ?? undefined,
      resend_of: null,
    },
  }
}

const domainsOf = ({ from, headers }: Acceptance.Command): ReadonlyArray<string> => {
  const sender = Acceptance.senderDomain(headers)
  return sender === undefined ? [Address.domainOf(from.address)] : [Address.domainOf(from.address), sender]
}

const keysOf = ({ bcc, cc, to }: Acceptance.Command): ReadonlyArray<string> =>
  [...to, ...cc, ...bcc].map(({ address }) => Address.keyOf(address))

/** `month` is the UTC month whose volume these messages count in, as `2026-11`. */
export const needsOf = (drafts: ReadonlyArray<Draft>, now: Timestamp.Timestamp) =>
  ({
    domains: [...new Set(drafts.flatMap(({ command }) => domainsOf(command)))],
    addresses: [...new Set(drafts.flatMap(({ command }) => keysOf(command)))],
    month: now.slice(0, MONTH_CHARS),
  }) satisfies Needs

const MONTH_CHARS = "2026-11".length

/** Roughly what travels with these messages. */
export const bytesOf = (drafts: ReadonlyArray<Draft>): number =>
  drafts.reduce((sum, { command }) => sum + command.size_bytes, 0)

export interface Accepted {
  readonly id: Id.EmailId
  readonly created_at: Timestamp.Timestamp
  /** How many recipients count towards the month. */
  readonly recipients: number
  readonly decision: Omit<Decision<unknown>, "answer">
}

/**
 * One message against the facts of the flight. `before` are recipients that the same request has had accepted already.
 * `asked` is the moment of the id, not of the flight: see `newEmail`, and a flight that leaves after midnight of the first
 * must not count in a month nobody looked at.
 */
export const accept = (
  view: View,
  sender: Sender,
  id: Id.EmailId,
  { blobs, command, original }: Draft,
  asked: Timestamp.Timestamp,
  before = 0,
): Result.Result<Accepted, Acceptance.Refusal> => {
  const { account_id, key, tracks } = sender
  const account = view.facts.account(account_id)?.record as AccountRecord | undefined
  if (account === undefined) throw new Error(`the account ${account_id} has a key and no record`)
  const name = Address.domainOf(command.from.address)
  const domain = view.facts.domain(account_id, name)
  const senderName = Acceptance.senderDomain(command.headers)
  const suppressed = new Map<string, Suppression.Reason>()
  for (const address of keysOf(command)) {
    const reason = view.facts.suppression(account_id, address)
    if (reason !== undefined) suppressed.set(address, reason as Suppression.Reason)
  }
  const facts: Acceptance.Facts = {
    now: asked,
    emailId: id,
    messageId: Acceptance.messageIdOf(id, name),
    domain:
      domain === undefined
        ? undefined
        : {
            id: domain.id as Id.DomainId,
            status: domain.status as DomainStatus.Status,
            tracking: domain.tracking ?? undefined,
          },
    sender:
      senderName === undefined
        ? undefined
        : {
            domain: senderName,
            status: view.facts.domain(account_id, senderName)?.status as DomainStatus.Status | undefined,
          },
    tracks,
    key,
    plan: { name: Plan.TERMS[account.plan].name, max_recipients: account.limits.max_recipients },
    suppressed,
    quota: {
      used: view.facts.used(account_id, asked.slice(0, MONTH_CHARS)) + before,
      limit: account.limits.monthly_emails,
    },
    original,
  }
  return Result.map(Acceptance.accept(facts, command), (events) => {
    const state = events.reduce<Email.State>(Email.evolve, Email.initial)
    const expires_on = Timestamp.plus(asked, account.content_days * Timestamp.DAY).slice(0, "2026-11-21".length)
    return {
      id,
      created_at: asked,
      recipients: (state._tag === "Message" ? state.recipients.length : 0) - (events.length - 1),
      decision: {
        append: [{ aggregate: Email, id, events }],
        content: blobs.map((blob) => ({ account_id, ...blob, expires_on })),
      },
    }
  })
}
