import { Schema } from "effect"
import * as Address from "../values/Address.ts"
import * as Content from "./Content.ts"
import * as DomainName from "../values/DomainName.ts"
import * as Id from "../values/Id.ts"
import * as DeliveryOutcome from "./DeliveryOutcome.ts"
import * as SuppressionState from "../suppression/SuppressionState.ts"
import * as Text from "../values/Text.ts"
import * as Timestamp from "../values/Timestamp.ts"
import { Tracking } from "../domain/Tracking.ts"

const at = Timestamp.Timestamp
const recipient = Address.Address
/** Set if the outcome is one of the simulator, which suppresses nobody. */
const simulated = Schema.optionalKey(Schema.Literal(true))
/** Reason for which a real outcome would have suppressed the recipient. */
const would_suppress = Schema.optionalKey(SuppressionState.Reason)
const mailboxes = Schema.Array(Address.MailboxObject)

/** How answers are found. `forward`: they are sent on to `reply_to`, or else to `from`. */
export const ReplyTracking = Schema.Struct({ forward: Schema.Boolean })
export type ReplyTracking = typeof ReplyTracking.Type

/**
 * Acceptance is one event per message, an outcome one event per recipient. Bodies are stored outside events, which hold
 * only their hash.
 */
export const Event = Schema.TaggedUnion({
  EmailQueued: {
    email_id: Id.EmailId,
    message_id: Text.Stored,
    from: Address.MailboxObject,
    /** De-duplicated across to, cc and bcc. Empty only in a resend whose missing recipients were all cc or bcc. */
    to: mailboxes,
    cc: mailboxes,
    bcc: mailboxes,
    reply_to: mailboxes,
    subject: Text.Stored,
    headers: Schema.Record(Text.Stored, Text.Stored),
    /** Names of those headers that steer a provider and that an operator allowed then. All others are never sent. */
    allowed_headers: Schema.optionalKey(Schema.Array(Text.Stored)),
    tags: Schema.Array(Text.Stored),
    /** Absent if there is none. */
    metadata: Schema.optionalKey(Schema.Record(Text.Stored, Text.Stored)),
    /** The version and language of the template that the message was made of. Absent if of none. */
    template: Schema.optionalKey(
      Schema.Struct({
        id: Id.TemplateId,
        version: Schema.Natural,
        locale: Schema.NullOr(Text.Stored),
        /** Variables that it has written without a value. Absent if there are none. */
        missing: Schema.optionalKey(Schema.Array(Text.Stored)),
      }),
    ),
    /** The received mail that is sent on as it came. Absent for a message that was composed. */
    forward_of: Schema.optionalKey(Id.InboundId),
    /** Answers go to an address of the service, which finds the message by it; absent if they go to `reply_to`. */
    reply_tracking: Schema.optionalKey(ReplyTracking),
    scheduled_at: Schema.NullOr(Timestamp.Timestamp),
    domain: DomainName.DomainName,
    /** `null` for test mail, which needs no domain. */
    domain_id: Schema.NullOr(Id.DomainId),
    /** False for test mail, absent for live mail. */
    livemode: Schema.optionalKey(Schema.Literal(false)),
    /** Outcomes of the attempts of a test message, in the words of `Script`. Absent if its recipients decide. */
    script: Schema.optionalKey(Text.Stored),
    api_key_id: Schema.NullOr(Id.ApiKeyId),
    content: Content.Content,
    size_bytes: Schema.Natural,
    resend_of: Schema.NullOr(Id.EmailId),
    list_unsubscribe: Schema.Boolean,
    /** Absent if nothing is tracked. */
    tracking: Schema.optionalKey(Tracking),
    /** The test clock on whose time the message lives. Absent for mail on real time. */
    test_clock: Schema.optionalKey(Id.TestClockId),
    /** Names of headers that steer a provider and were dropped unread. Absent if there are none, and over HTTP. */
    dropped_headers: Schema.optionalKey(Schema.Array(Text.Stored)),
    created_at: Timestamp.Timestamp,
  },
  EmailSuppressed: { recipient, reason: SuppressionState.Reason, simulated, at },
  EmailSent: { recipient, ...DeliveryOutcome.fields, ...DeliveryOutcome.handover, at },
  EmailDelivered: { recipient, ...DeliveryOutcome.fields, ...DeliveryOutcome.handover, at },
  EmailDeferred: { recipient, ...DeliveryOutcome.fields, next_attempt_at: Timestamp.Timestamp, at },
  EmailBounced: {
    recipient,
    bounce_type: DeliveryOutcome.BounceType,
    ...DeliveryOutcome.fields,
    simulated,
    would_suppress,
    at,
  },
  EmailFailed: { recipient, ...DeliveryOutcome.fields, at },
  EmailAttemptLost: { recipient, attempt: Schema.Natural, at },
  EmailComplained: { recipient, feedback_type: Schema.NullOr(Text.Stored), simulated, would_suppress, at },
  /** `recipient` is known only for a message with a single recipient, because all recipients get the same body. */
  EmailOpened: {
    recipient: Schema.NullOr(recipient),
    user_agent: Schema.NullOr(Text.Stored),
    ip: Schema.NullOr(Text.Stored),
    at,
  },
  EmailClicked: {
    recipient: Schema.NullOr(recipient),
    url: Text.Stored,
    user_agent: Schema.NullOr(Text.Stored),
    ip: Schema.NullOr(Text.Stored),
    at,
  },
  /** `refunded` is false if the account has canceled so much in the month that this mail still counts. */
  EmailCanceled: { refunded: Schema.optionalKey(Schema.Literal(false)), at },
  EmailRescheduled: { scheduled_at: Timestamp.Timestamp, at },
  /** A copy of the message was queued for the recipients that it did not reach. */
  EmailResent: { copy_id: Id.EmailId, at },
})
export type Event = typeof Event.Type
export type EmailQueued = typeof Event.cases.EmailQueued.Type
export type EmailCanceled = typeof Event.cases.EmailCanceled.Type

/** Returns what records say of the template of a message; the variables that it missed are a warning. */
export const publicTemplate = ({ id, locale, version }: NonNullable<EmailQueued["template"]>) => ({
  id,
  version,
  locale,
})
