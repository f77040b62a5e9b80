import { type Array, Result } from "effect"
import * as Address from "./Address.ts"
import type * as Content from "./Content.ts"
import type * as DomainName from "./DomainName.ts"
import * as DomainStatus from "./DomainStatus.ts"
import type * as EmailEvent from "./EmailEvent.ts"
import {
  AllRecipientsSuppressed,
  ContentExpired,
  DomainNotAllowed,
  DomainNotVerified,
  MonthlyQuotaExceeded,
  NothingToResend,
  RecipientLimitExceeded,
  ScheduledAtOutOfRange,
  TrackingUnavailable,
} from "./EmailRefusal.ts"
import * as Header from "./Header.ts"
import type * as Id from "./Id.ts"
import type * as Suppression from "./Suppression.ts"
import * as Tag from "./Tag.ts"
import * as Timestamp from "./Timestamp.ts"
import * as Tracking from "./Tracking.ts"

/** Addresses in `to`: a bound of the request itself, whatever the plan (specification, Other limits). */
export const MAX_TO = 50
/** How far `scheduled_at` may lie in the past: clocks of clients go wrong by seconds, and the mail is then due at once. */
export const MAX_SCHEDULE_PAST_MS = 60 * Timestamp.SECOND
export const MAX_SCHEDULE_AHEAD_MS = 30 * Timestamp.DAY

/** What a client asked for, parsed: everything here was decidable from the request alone. */
export interface Command {
  readonly from: Address.Mailbox
  readonly to: ReadonlyArray<Address.Mailbox>
  readonly cc: ReadonlyArray<Address.Mailbox>
  readonly bcc: ReadonlyArray<Address.Mailbox>
  readonly reply_to: ReadonlyArray<Address.Mailbox>
  readonly subject: string
  readonly headers: { readonly [name: string]: string }
  readonly tags: ReadonlyArray<string>
  readonly scheduled_at: Timestamp.Timestamp | null
  readonly content: Content.Content
  readonly size_bytes: number
  readonly list_unsubscribe: boolean
  /** Where the message says so itself; else its domain does. */
  readonly tracking?: Tracking.Wish | undefined
  readonly resend_of: Id.EmailId | null
}

/** What the server knows at this moment; read in the same flight that appends. */
export interface Facts {
  readonly now: Timestamp.Timestamp
  readonly emailId: Id.EmailId
  readonly messageId: string
  /** The account's domain of the sender's address, if it has one by that name. */
  readonly domain:
    | {
        readonly id: Id.DomainId
        readonly status: DomainStatus.Status
        readonly tracking?: Tracking.Tracking | undefined
      }
    | undefined
  /** The domain of the header `Sender`, where the message has one. It is asked the same as that of `from`. */
  readonly sender?: { readonly domain: string; readonly status: DomainStatus.Status | undefined } | undefined
  /** Whether this instance has an address that links in mail can lead to. */
  readonly tracks: boolean
  /** `null` where a session of the dashboard sends. */
  readonly key: { readonly id: Id.ApiKeyId; readonly domain: DomainName.DomainName | null } | null
  readonly plan: { readonly name: string; readonly max_recipients: number }
  /** Suppressed addresses among the recipients, by `Address.keyOf`. */
  readonly suppressed: ReadonlyMap<string, Suppression.Reason>
  /** Recipients accepted in this UTC month; `limit` is `null` where the plan has none. */
  readonly quota: { readonly used: number; readonly limit: number | null }
  /** Of a resend: the message that is copied. */
  readonly original?: { readonly recipients: number; readonly content_kept: boolean } | undefined
}

export type Refusal =
  | MonthlyQuotaExceeded
  | ContentExpired
  | NothingToResend
  | DomainNotAllowed
  | DomainNotVerified
  | RecipientLimitExceeded
  | ScheduledAtOutOfRange
  | TrackingUnavailable
  | AllRecipientsSuppressed

/** Unique by construction, since the id is, and readable in a bug report from the other side. */
export const messageIdOf = (emailId: Id.EmailId, domain: DomainName.DomainName): string => `<${emailId}@${domain}>`

export interface Recipients {
  readonly to: ReadonlyArray<Address.Mailbox>
  readonly cc: ReadonlyArray<Address.Mailbox>
  readonly bcc: ReadonlyArray<Address.Mailbox>
}

/** Each address once over to, cc and bcc; the first mention wins, so nobody is shown in less than they were named. */
export const deduplicate = (recipients: Recipients): Recipients => {
  const seen = new Set<string>()
  const fresh = ({ address }: Address.Mailbox): boolean => {
    const key = Address.keyOf(address)
    if (seen.has(key)) return false
    seen.add(key)
    return true
  }
  return { to: recipients.to.filter(fresh), cc: recipients.cc.filter(fresh), bcc: recipients.bcc.filter(fresh) }
}

/**
 * Whether this message is taken, and what the history then says. The order of refusals is the contract's (§1): 429, 403,
 * then 422. Recipients are counted after de-duplication, and the volume counts only those who are not suppressed.
 */
export const accept = (
  facts: Facts,
  command: Command,
): Result.Result<Array.NonEmptyReadonlyArray<EmailEvent.Event>, Refusal> => {
  const { now, emailId, messageId, domain, key, plan, quota } = facts
  const name = Address.domainOf(command.from.address)
  const recipients = deduplicate(command)
  const all = [...recipients.to, ...recipients.cc, ...recipients.bcc]
  const silenced = all.filter(({ address }) => facts.suppressed.has(Address.keyOf(address)))
  const accepted = all.length - silenced.length

  if (quota.limit !== null && accepted > 0 && quota.used + accepted > quota.limit)
    return Result.fail(quotaExceeded(now, quota.used, quota.limit, accepted))
  const forbidden = checkKey(key, name, facts.sender?.domain)
  if (forbidden !== undefined) return Result.fail(forbidden)
  if (facts.original?.content_kept === false) return Result.fail(new ContentExpired())
  if (facts.original !== undefined && all.length === 0)
    return Result.fail(new NothingToResend({ recipients: facts.original.recipients }))
  if (domain === undefined || !DomainStatus.sends(domain.status))
    return Result.fail(new DomainNotVerified({ field: "from", domain: name, domain_status: domain?.status ?? null }))
  const { sender } = facts
  if (sender !== undefined && (sender.status === undefined || !DomainStatus.sends(sender.status)))
    return Result.fail(
      new DomainNotVerified({ field: "headers.Sender", domain: sender.domain, domain_status: sender.status ?? null }),
    )
  if (all.length > plan.max_recipients)
    return Result.fail(
      new RecipientLimitExceeded({ recipients: all.length, limit: plan.max_recipients, plan: plan.name }),
    )
  const outOfRange = command.scheduled_at === null ? undefined : checkSchedule(now, command.scheduled_at)
  if (outOfRange !== undefined) return Result.fail(outOfRange)
  // A copy is as its original was, and goes out also where nothing is tracked any more.
  if (!facts.tracks && command.resend_of === null && asksFor(command.tracking))
    return Result.fail(new TrackingUnavailable({ path: "tracking" }))
  if (accepted === 0)
    return Result.fail(new AllRecipientsSuppressed({ addresses: silenced.map(({ address }) => address) }))

  const queued: EmailEvent.EmailQueued = {
    _tag: "EmailQueued",
    email_id: emailId,
    message_id: messageId,
    from: command.from,
    ...recipients,
    reply_to: command.reply_to,
    subject: command.subject,
    headers: command.headers,
    tags: Tag.distinct(command.tags),
    scheduled_at: command.scheduled_at,
    domain: name,
    domain_id: domain.id,
    api_key_id: key?.id ?? null,
    content: command.content,
    size_bytes: command.size_bytes,
    resend_of: command.resend_of,
    list_unsubscribe: command.list_unsubscribe,
    created_at: now,
  }
  const tracking = facts.tracks ? trackingOf(domain.tracking, command.tracking) : undefined
  return Result.succeed([
    tracking === undefined ? queued : { ...queued, tracking },
    ...silenced.map(({ address }): EmailEvent.Event => ({
      _tag: "EmailSuppressed",
      recipient: address,
      reason: facts.suppressed.get(Address.keyOf(address)) ?? "manual",
      at: now,
    })),
  ])
}

/** A bound key neither sends from another domain nor says that it does. */
const checkKey = (key: Facts["key"], from: string, sender: string | undefined): DomainNotAllowed | undefined => {
  if (key === null || key.domain === null) return undefined
  const allowed = key.domain
  if (from !== allowed) return new DomainNotAllowed({ field: "from", domain: from, allowed })
  return sender === undefined || sender === allowed
    ? undefined
    : new DomainNotAllowed({ field: "headers.Sender", domain: sender, allowed })
}

/** The domain of the header `Sender`. A value that is no address, as a mail of long ago may have, names no domain that is. */
export const senderDomain = (headers: Command["headers"]): string | undefined => {
  const value = Header.senderIn(headers)
  return value === undefined
    ? undefined
    : Result.match(Address.parse(value), { onSuccess: ({ address }) => Address.domainOf(address), onFailure: () => "" })
}

const asksFor = (wish: Tracking.Wish | undefined): boolean => wish?.opens === true || wish?.clicks === true

const trackingOf = (
  domain: Tracking.Tracking | undefined,
  wish: Tracking.Wish | undefined,
): Tracking.Tracking | undefined => (wish === undefined ? domain : Tracking.wished(domain, wish))

export const checkSchedule = (
  now: Timestamp.Timestamp,
  scheduled_at: Timestamp.Timestamp,
): ScheduledAtOutOfRange | undefined => {
  const earliest = Timestamp.plus(now, -MAX_SCHEDULE_PAST_MS)
  const latest = Timestamp.plus(now, MAX_SCHEDULE_AHEAD_MS)
  const fits = scheduled_at >= earliest && scheduled_at <= latest
  return fits ? undefined : new ScheduledAtOutOfRange({ scheduled_at, earliest, latest })
}

const quotaExceeded = (now: Timestamp.Timestamp, used: number, limit: number, recipients: number) => {
  const resets_at = Timestamp.nextMonth(now)
  return new MonthlyQuotaExceeded({
    used,
    limit,
    recipients,
    resets_at,
    retry_after_s: Timestamp.secondsUntil(now, resets_at),
  })
}
