import * as Address from "@waybill/domain/values/Address"
import * as EmailEvent from "@waybill/domain/email/EmailEvent"
import * as EmailStatus from "@waybill/domain/email/EmailStatus"
import * as Id from "@waybill/domain/values/Id"
import * as SuppressionState from "@waybill/domain/suppression/SuppressionState"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Tracking from "@waybill/domain/domain/Tracking"
import { Schema } from "effect"

const at = Timestamp.Timestamp

/** The last response of the receiving server for a recipient. */
const Smtp = Schema.Struct({
  code: Schema.NullOr(Schema.Int),
  enhanced_code: Schema.NullOr(Schema.String),
  response: Schema.NullOr(Schema.String),
  mx: Schema.NullOr(Schema.String),
  tls: Schema.NullOr(Schema.String),
  duration_ms: Schema.NullOr(Schema.Int),
  category: Schema.NullOr(Schema.String),
}).annotate({ identifier: "SmtpAnswer" })

const Recipient = Schema.Struct({
  address: Address.Address,
  kind: Schema.Literals(["to", "cc", "bcc"]),
  status: EmailStatus.Status,
  attempts: Schema.Natural,
  last_event_at: at,
  suppression: Schema.NullOr(SuppressionState.Reason),
  smtp: Schema.NullOr(Smtp),
}).annotate({ identifier: "EmailRecipient" })

const RecipientError = Schema.Struct({
  recipient: Schema.String,
  status: EmailStatus.Status,
  category: Schema.NullOr(Schema.String),
  code: Schema.NullOr(Schema.Int),
  enhanced_code: Schema.NullOr(Schema.String),
  message: Schema.NullOr(Schema.String),
}).annotate({ identifier: "EmailTrouble" })

const counts = Schema.Struct({
  queued: Schema.optionalKey(Schema.Natural),
  deferred: Schema.optionalKey(Schema.Natural),
  sent: Schema.optionalKey(Schema.Natural),
  delivered: Schema.optionalKey(Schema.Natural),
  bounced: Schema.optionalKey(Schema.Natural),
  failed: Schema.optionalKey(Schema.Natural),
  suppressed: Schema.optionalKey(Schema.Natural),
  canceled: Schema.optionalKey(Schema.Natural),
  complained: Schema.optionalKey(Schema.Natural),
} satisfies { readonly [S in EmailStatus.Status]: unknown })

const mailboxes = Schema.Array(Schema.String)

const fields = {
  object: Schema.Literal("email_log"),
  id: Id.EmailId,
  message_id: Schema.String.annotate({
    description: "The Message-ID header",
    examples: ["<msg_01kakz5xq8e4vb2m0r7c3d9h1t@acme.test>"],
  }),
  status: EmailStatus.Status,
  from: Schema.String,
  to: mailboxes,
  cc: mailboxes,
  bcc: mailboxes,
  reply_to: mailboxes,
  subject: Schema.String,
  tags: Schema.Array(Schema.String),
  metadata: Schema.Record(Schema.String, Schema.String).annotate({
    description: "Pairs that the sender identifies the message by",
  }),
  template: Schema.NullOr(
    Schema.Struct({ id: Id.TemplateId, version: Schema.Natural, locale: Schema.NullOr(Schema.String) }).annotate({
      identifier: "UsedTemplate",
    }),
  ).annotate({ description: "The version and language of the template that the message was made of" }),
  created_at: at,
  updated_at: at,
  scheduled_at: Schema.NullOr(at),
  delivered_at: Schema.NullOr(at),
  next_attempt_at: Schema.NullOr(at),
  attempts: Schema.Natural,
  tracking: Tracking.Tracking.annotate({
    description: "Whether opens and clicks are tracked, as decided at acceptance",
  }),
  opens: Schema.Natural,
  clicks: Schema.Natural,
  api_key_id: Schema.NullOr(Id.ApiKeyId),
  test_clock: Schema.NullOr(Id.TestClockId).annotate({
    description: "The test clock on whose time the message lives; `null` on real time",
  }),
  domain: Schema.String,
  livemode: Schema.Boolean.annotate({ description: "False for test mail, which is never sent" }),
  size_bytes: Schema.Natural,
  error: Schema.NullOr(RecipientError).annotate({
    description: "The error of the first recipient that has one",
  }),
  version: Schema.Natural.annotate({ description: "Number of events in its stream" }),
  recipient_counts: counts.annotate({
    description: "Number of recipients per status; `status` is derived from them",
  }),
  recipients: Schema.Array(Recipient),
}

/** A message in the logs. */
export const EmailRecord = Schema.Struct(fields).annotate({ identifier: "EmailLog" })
export type EmailRecord = typeof EmailRecord.Type

export const Content = Schema.Struct({
  html: Schema.NullOr(Schema.String),
  text: Schema.NullOr(Schema.String),
  attachments: Schema.Array(
    Schema.Struct({
      filename: Schema.String,
      content_type: Schema.String,
      content_id: Schema.NullOr(Schema.String),
      size_bytes: Schema.Natural,
    }),
  ),
}).annotate({ identifier: "EmailContent" })

export const WithContent = Schema.Struct({
  ...fields,
  forward_of: Schema.NullOr(Id.InboundId).annotate({
    description: "The received mail that was sent on as it came; it has the content",
  }),
  reply_tracking: Schema.NullOr(EmailEvent.ReplyTracking).annotate({
    description: "How answers are found, as decided at acceptance; `null` if they go to `reply_to`",
  }),
  resend_of: Schema.NullOr(Id.EmailId).annotate({ description: "The message that this one is a copy of" }),
  copies: Schema.Array(Id.EmailId).annotate({
    description: "The first 100 copies that were sent to recipients whom this message did not reach",
  }),
  content: Schema.NullOr(Content).annotate({ description: "`null` once it is no longer kept" }),
}).annotate({ identifier: "EmailLogWithContent" })
