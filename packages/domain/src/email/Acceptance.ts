import { Result } from "effect"
import * as Address from "../values/Address.ts"
import type * as Content from "./Content.ts"
import type * as DomainName from "../values/DomainName.ts"
import * as DomainStatus from "../domain/DomainStatus.ts"
import type * as EmailEvent from "./EmailEvent.ts"
import * as EmailRefusal from "./EmailRefusal.ts"
import * as Header from "./Header.ts"
import type * as Id from "../values/Id.ts"
import type { Mode } from "../account/Livemode.ts"
import * as SteeringHeader from "../account/SteeringHeader.ts"
import type * as SuppressionState from "../suppression/SuppressionState.ts"
import * as Labels from "./Labels.ts"
import * as Timestamp from "../values/Timestamp.ts"
import * as Tracking from "../domain/Tracking.ts"
import * as UsageChange from "./UsageChange.ts"

/** Maximum number of addresses in `to`. A limit of the request itself, the same on every plan. */
export const MAX_TO = 50
/** How far `scheduled_at` may lie in the past. Client clocks are off by seconds; such mail is due at once. */
export const MAX_SCHEDULE_PAST_MS = 60 * Timestamp.SECOND
export const MAX_SCHEDULE_AHEAD_MS = 30 * Timestamp.DAY

/** The version and language of a template that a message was made of. */
export type UsedTemplate = NonNullable<EmailEvent.EmailQueued["template"]>

/** A received mail that is sent on. */
export interface Forward {
  readonly inbound_id: Id.InboundId
  /** The Message-ID that it came with. */
  readonly message_id: string | null
  /** The domain of the account that answers for it. */
  readonly domain: DomainName.DomainName
}

/** A parsed send request: everything that the request alone decides. */
export interface Command {
  readonly from: Address.Mailbox
  readonly to: ReadonlyArray<Address.Mailbox>
  readonly cc: ReadonlyArray<Address.Mailbox>
  readonly bcc: ReadonlyArray<Address.Mailbox>
  readonly reply_to: ReadonlyArray<Address.Mailbox>
  readonly subject: string
  readonly headers: { readonly [name: string]: string }
  /**
   * Names of headers that steer a provider, in mail that came over SMTP, which drops them: those that were read, in lower
   * case, and those that cannot be headers of a message. Absent: such headers are refused.
   */
  readonly steering?: { readonly read: ReadonlySet<string>; readonly dropped: ReadonlyArray<string> } | undefined
  /** Outcomes of the attempts of a test message, in the words of `Script`. */
  readonly script?: string | undefined
  readonly tags: ReadonlyArray<string>
  readonly metadata?: Labels.Metadata | undefined
  /** The template that the words are made of. Absent: the request brought them. */
  readonly template?: UsedTemplate | undefined
  readonly scheduled_at: Timestamp.Timestamp | null
  readonly content: Content.Content
  readonly size_bytes: number
  readonly list_unsubscribe: boolean
  /** Whether mail to suppressed recipients alone is accepted, as suppressed. It counts as one recipient. */
  readonly accept_suppressed?: boolean
  readonly reply_tracking?: EmailEvent.ReplyTracking | undefined
  /** The received mail that is sent on as it came. Its author's domain is not the account's. */
  readonly forward?: Forward | undefined
  /** The tracking that the message asks for. Absent: the setting of its domain applies. */
  readonly tracking?: Tracking.Change | undefined
  readonly resend_of: Id.EmailId | null
  /** The test clock that the message asks for. Absent: that of its key, if it has one. */
  readonly test_clock?: Id.TestClockId | undefined
}

/** Server state that a decision needs. It is read in the transaction that appends the events. */
export interface Context {
  readonly now: Timestamp.Timestamp
  readonly emailId: Id.EmailId
  readonly messageId: string
  /** Test mail needs no domain of the account, because it is never sent. */
  readonly mode: Mode
  /** The account's domain with the name of the sender's domain, if there is one. */
  readonly domain:
    | {
        readonly id: Id.DomainId
        readonly status: DomainStatus.Status
        readonly tracking?: Tracking.Tracking | undefined
      }
    | undefined
  /** The domain of the `Sender` header, if the message has one. It must be verified, like the domain of `from`. */
  readonly sender?: { readonly domain: string; readonly status: DomainStatus.Status | undefined } | undefined
  /** Whether this instance has a public address for tracked links and pixels. */
  readonly tracks: boolean
  /** `null` when a dashboard session sends. */
  readonly key: { readonly id: Id.ApiKeyId; readonly domain: DomainName.DomainName | null } | null
  readonly plan: { readonly name: string; readonly max_recipients: number }
  /** Headers that steer a provider and that an operator allows the account. */
  readonly allowedHeaders?: ReadonlyArray<string> | undefined
  /** Suppressed recipients of this message, by `Address.keyOf`. */
  readonly suppressed: ReadonlyMap<string, SuppressionState.Reason>
  /** Recipients accepted in this UTC month. `limit` is `null` on a plan without one. */
  readonly quota: { readonly used: number; readonly limit: number | null }
  /** Bytes of content stored for unsent mail of this UTC month, and the most that scheduled mail may have. */
  readonly unsent: { readonly bytes: number; readonly limit: number }
  /** The test clock that the message lives on, and the time that it shows; no time if there is no such clock. */
  readonly clock?: { readonly id: Id.TestClockId; readonly now: Timestamp.Timestamp | undefined } | undefined
  /** For a resend: the message that is copied. */
  readonly original?:
    | {
        readonly recipients: number
        /** Recipients for whom delivery is still in progress. */
        readonly in_progress: number
        readonly content_kept: boolean
      }
    | undefined
}

export type Refusal =
  | EmailRefusal.MonthlyQuotaExceeded
  | EmailRefusal.TestClockOfLiveMail
  | EmailRefusal.TestClockUnknown
  | EmailRefusal.ContentExpired
  | EmailRefusal.NothingToResend
  | EmailRefusal.DomainNotAllowed
  | EmailRefusal.DomainNotVerified
  | EmailRefusal.HeaderNotAllowed
  | EmailRefusal.RecipientLimitExceeded
  | EmailRefusal.ScheduledAtOutOfRange
  | EmailRefusal.ScheduledSizeExceeded
  | EmailRefusal.ScriptOfLiveMail
  | EmailRefusal.TrackingUnavailable
  | EmailRefusal.AllRecipientsSuppressed

/** Returns the Message-ID. It is unique because the id is, and a bug report that quotes it names the email. */
export const messageIdOf = (emailId: Id.EmailId, domain: DomainName.DomainName): string => `<${emailId}@${domain}>`

export interface Recipients {
  readonly to: ReadonlyArray<Address.Mailbox>
  readonly cc: ReadonlyArray<Address.Mailbox>
  readonly bcc: ReadonlyArray<Address.Mailbox>
}

/**
 * Keeps each address once across to, cc and bcc. The first mention wins, so `to` goes before `cc`, and `cc` before
 * `bcc`.
 */
export const deduplicate = ({ bcc, cc, to }: Recipients): Recipients => {
  if (to.length + cc.length + bcc.length <= 1) return { to, cc, bcc }
  const seen = new Set<string>()
  const isFirst = ({ address }: Address.Mailbox): boolean => {
    const key = Address.keyOf(address)
    if (seen.has(key)) return false
    seen.add(key)
    return true
  }
  return { to: to.filter(isFirst), cc: cc.filter(isFirst), bcc: bcc.filter(isFirst) }
}

/** A message to judge: what is asked for, what it is judged by, and what follows from both. */
interface Judged {
  readonly command: Command
  readonly context: Context
  /** The time that the message lives on. */
  readonly now: Timestamp.Timestamp
  readonly domain: DomainName.DomainName
  /** Each recipient once. */
  readonly recipients: Recipients
  readonly all: ReadonlyArray<Address.Mailbox>
  readonly suppressed: ReadonlyArray<Address.Mailbox>
  readonly steering: ReturnType<typeof SteeringHeader.sort>
}

/**
 * Accepts or refuses a message and returns the first events of its history. The first of `CHECKS` that refuses it decides.
 */
export const accept = (
  context: Context,
  command: Command,
): Result.Result<readonly [EmailEvent.EmailQueued, ...ReadonlyArray<EmailEvent.Event>], Refusal> => {
  const recipients = deduplicate(command)
  const all = [...recipients.to, ...recipients.cc, ...recipients.bcc]
  const judged: Judged = {
    command,
    context,
    now: context.clock?.now ?? context.now,
    domain: domainOf(command),
    recipients,
    all,
    suppressed: all.filter(({ address }) => context.suppressed.has(Address.keyOf(address))),
    steering: SteeringHeader.sort(command.headers, context.allowedHeaders ?? SteeringHeader.NONE_ALLOWED),
  }
  for (const check of CHECKS) {
    const refusal = check(judged)
    if (refusal !== undefined) return Result.fail(refusal)
  }
  return Result.succeed([
    queuedOf(judged),
    ...judged.suppressed.map(({ address }): EmailEvent.Event => ({
      _tag: "EmailSuppressed",
      recipient: address,
      reason: reasonOf(context, address),
      at: judged.now,
    })),
  ])
}

const queuedOf = ({ command, context, domain, now, recipients, steering }: Judged): EmailEvent.EmailQueued => {
  const { clock, emailId, key, messageId, tracks } = context
  const tracking = tracks ? trackingOf(context.domain?.tracking, command.tracking) : undefined
  return {
    _tag: "EmailQueued",
    email_id: emailId,
    message_id: command.forward?.message_id ?? messageId,
    from: command.from,
    ...recipients,
    reply_to: command.reply_to,
    subject: command.subject,
    headers: without(command.headers, steering.refused),
    ...(steering.allowed.length === 0 ? {} : { allowed_headers: steering.allowed }),
    tags: Labels.distinct(command.tags),
    ...(command.metadata === undefined || Object.keys(command.metadata).length === 0
      ? {}
      : { metadata: command.metadata }),
    ...(command.template === undefined ? {} : { template: command.template }),
    ...(command.forward === undefined ? {} : { forward_of: command.forward.inbound_id }),
    ...(command.reply_tracking === undefined ? {} : { reply_tracking: command.reply_tracking }),
    scheduled_at: command.scheduled_at,
    domain,
    domain_id: context.domain?.id ?? null,
    ...livemodeOf(context),
    ...(clock === undefined ? {} : { test_clock: clock.id }),
    ...(command.script === undefined ? {} : { script: command.script }),
    api_key_id: key?.id ?? null,
    content: command.content,
    size_bytes: command.size_bytes,
    resend_of: command.resend_of,
    list_unsubscribe: command.list_unsubscribe,
    ...droppedOf(command, steering.refused),
    created_at: now,
    ...(tracking === undefined ? {} : { tracking }),
  }
}

const livemodeOf = ({ mode }: Context) => (mode === "test" ? { livemode: false as const } : {})

const reasonOf = ({ suppressed }: Context, address: Address.Address): SuppressionState.Reason =>
  suppressed.get(Address.keyOf(address)) ?? "manual"

/** The domain of the account that a message is sent from. */
export const domainOf = ({ forward, from }: Pick<Command, "forward" | "from">): DomainName.DomainName =>
  forward?.domain ?? Address.domainOf(from.address)

const without = (headers: Command["headers"], names: ReadonlyArray<string>): Command["headers"] =>
  names.length === 0 ? headers : Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)))

/** Names the headers that were dropped and not read. */
const droppedOf = ({ steering }: Command, refused: ReadonlyArray<string>) => {
  if (steering === undefined) return {}
  const unread = refused.filter((name) => !steering.read.has(name.toLowerCase()))
  const dropped_headers = [...steering.dropped, ...unread]
  return dropped_headers.length === 0 ? {} : { dropped_headers }
}

/**
 * Returns the domain of the `Sender` header. A value that is not an address, possible in old mail, returns "", which no
 * domain matches.
 */
export const senderDomain = (headers: Command["headers"]): string | undefined => {
  const value = Header.senderIn(headers)
  return value === undefined
    ? undefined
    : Result.match(Address.parse(value), { onSuccess: ({ address }) => Address.domainOf(address), onFailure: () => "" })
}

const trackingOf = (
  domain: Tracking.Tracking | undefined,
  requested: Tracking.Change | undefined,
): Tracking.Tracking | undefined => (requested === undefined ? domain : Tracking.apply(domain, requested))

export const checkSchedule = (
  now: Timestamp.Timestamp,
  scheduled_at: Timestamp.Timestamp,
): EmailRefusal.ScheduledAtOutOfRange | undefined => {
  const earliest = Timestamp.plus(now, -MAX_SCHEDULE_PAST_MS)
  const latest = Timestamp.plus(now, MAX_SCHEDULE_AHEAD_MS)
  const inRange = scheduled_at >= earliest && scheduled_at <= latest
  return inRange ? undefined : new EmailRefusal.ScheduledAtOutOfRange({ scheduled_at, earliest, latest })
}

type Check = (judged: Judged) => Refusal | undefined

const checkClock: Check = ({ context: { clock, mode } }) => {
  if (clock === undefined) return undefined
  if (mode === "live") return new EmailRefusal.TestClockOfLiveMail()
  return clock.now === undefined ? new EmailRefusal.TestClockUnknown({ clock: clock.id }) : undefined
}

/** Suppressed recipients do not count towards the monthly quota, except one of a message that has no others. */
const checkQuota: Check = ({ all, command: { accept_suppressed, size_bytes }, context, suppressed }) => {
  const { mode, now, quota } = context
  const accepted = all.length - suppressed.length
  const recipients = accept_suppressed === true ? UsageChange.volumeOf(accepted) : accepted
  if (quota.limit === null || recipients === 0) return undefined
  const counted = recipients + UsageChange.piecesOf({ ...livemodeOf(context), size_bytes })
  if (quota.used + counted <= quota.limit) return undefined
  const resets_at = Timestamp.nextMonth(now)
  const retry_after_s = Timestamp.secondsUntil(now, resets_at)
  return new EmailRefusal.MonthlyQuotaExceeded({
    ...quota,
    limit: quota.limit,
    recipients,
    mode,
    resets_at,
    retry_after_s,
  })
}

/** A key bound to a domain sends from that domain only, in `from` and in `Sender`. */
const checkKey: Check = ({ context: { key, sender }, domain }) => {
  if (key === null || key.domain === null) return undefined
  const allowed = key.domain
  if (domain !== allowed) return new EmailRefusal.DomainNotAllowed({ field: "from", domain, allowed })
  return sender === undefined || sender.domain === allowed
    ? undefined
    : new EmailRefusal.DomainNotAllowed({ field: "headers.Sender", domain: sender.domain, allowed })
}

const checkScript: Check = ({ command, context }) =>
  command.script !== undefined && context.mode === "live" ? new EmailRefusal.ScriptOfLiveMail() : undefined

const checkHeaders: Check = ({ command, steering: { refused } }) =>
  command.steering === undefined && refused.length > 0
    ? new EmailRefusal.HeaderNotAllowed({ names: refused })
    : undefined

const checkOriginal: Check = ({ all, context: { original } }) => {
  if (original === undefined) return undefined
  const { content_kept, in_progress, recipients } = original
  if (!content_kept) return new EmailRefusal.ContentExpired()
  return all.length === 0 ? new EmailRefusal.NothingToResend({ recipients, in_progress }) : undefined
}

/** Mail is sent from verified domains of the account only, in `from` and in `Sender`. */
const checkDomains: Check = ({ context, domain }) => {
  if (context.mode === "test") return undefined
  const refuse = (field: "from" | "headers.Sender", domain: string, status: DomainStatus.Status | undefined) =>
    new EmailRefusal.DomainNotVerified({ field, domain, domain_status: status ?? null })
  const sends = (status: DomainStatus.Status | undefined) => status !== undefined && DomainStatus.sends(status)
  const { sender } = context
  if (!sends(context.domain?.status)) return refuse("from", domain, context.domain?.status)
  return sender === undefined || sends(sender.status)
    ? undefined
    : refuse("headers.Sender", sender.domain, sender.status)
}

const checkRecipients: Check = ({ all: { length: recipients }, context: { plan } }) =>
  recipients > plan.max_recipients
    ? new EmailRefusal.RecipientLimitExceeded({ recipients, limit: plan.max_recipients, plan: plan.name })
    : undefined

const checkTime: Check = ({ command: { scheduled_at }, now }) =>
  scheduled_at === null ? undefined : checkSchedule(now, scheduled_at)

const checkScheduledSize: Check = ({ command: { scheduled_at, size_bytes }, context: { unsent } }) =>
  scheduled_at !== null && unsent.bytes + size_bytes > unsent.limit
    ? new EmailRefusal.ScheduledSizeExceeded({ ...unsent, size_bytes })
    : undefined

/** A resend keeps the tracking of its original, and is accepted even if this instance no longer tracks. */
const checkTracking: Check = ({ command: { resend_of, tracking }, context: { tracks } }) =>
  !tracks && resend_of === null && (tracking?.opens === true || tracking?.clicks === true)
    ? new EmailRefusal.TrackingUnavailable({ path: "tracking" })
    : undefined

const checkSuppressed: Check = ({ all, command, context, suppressed }) =>
  suppressed.length < all.length || command.accept_suppressed === true
    ? undefined
    : new EmailRefusal.AllRecipientsSuppressed({
        recipients: suppressed.map(({ address }) => ({ address, reason: reasonOf(context, address) })),
      })

/** In the order that the contract (§1) fixes: 429, 403, then 422. The first that refuses a message decides. */
const CHECKS: ReadonlyArray<Check> = [
  checkClock,
  checkQuota,
  checkKey,
  checkScript,
  checkHeaders,
  checkOriginal,
  checkDomains,
  checkRecipients,
  checkTime,
  checkScheduledSize,
  checkTracking,
  checkSuppressed,
]
