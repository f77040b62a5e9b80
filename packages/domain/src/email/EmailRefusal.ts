import { Schema } from "effect"
import * as EmailStatus from "./EmailStatus.ts"
import * as Timestamp from "../values/Timestamp.ts"
import type { Detail } from "../values/Refusal.ts"

export class EmailNotFound extends Schema.TaggedError<EmailNotFound>()("EmailNotFound", {}) {
  readonly status = 404
  readonly reason = "email_not_found"
  override get message() {
    return "No email with this id exists in this account."
  }
}

export class EmailNotCaptured extends Schema.TaggedError<EmailNotCaptured>()("EmailNotCaptured", {}) {
  readonly status = 404
  readonly reason = "email_not_captured"
  override get message() {
    return (
      "The sandbox has no mail with this id. It keeps mail that reached a recipient, for 7 days. " +
      "GET /v1/email/logs/{id} shows an email in any state."
    )
  }
}

const TEST_CLOCK_FIELD = "headers.X-Waybill-Test-Clock"

/** A live message that names a test clock. */
export class TestClockOfLiveMail extends Schema.TaggedError<TestClockOfLiveMail>()("TestClockOfLiveMail", {}) {
  readonly status = 400
  readonly reason = "test_clock_of_live_mail"
  override get message() {
    return "Live mail never lives on a test clock. Send it with a test key, or leave the header out."
  }
  get details(): ReadonlyArray<Detail> {
    return [{ path: TEST_CLOCK_FIELD, message: "is allowed with a test key only" }]
  }
}

/** A test clock that the account does not have, or no longer. */
export class TestClockUnknown extends Schema.TaggedError<TestClockUnknown>()("TestClockUnknown", {
  clock: Schema.String,
}) {
  readonly status = 422
  readonly reason = "test_clock_not_found"
  override get message() {
    return `This account has no test clock ${this.clock}. Create one with POST /v1/test/clocks.`
  }
  get details(): ReadonlyArray<Detail> {
    return [{ path: TEST_CLOCK_FIELD, message: "must be a test clock of this account that is not deleted" }]
  }
}

/** A live message with a script. */
export class ScriptOfLiveMail extends Schema.TaggedError<ScriptOfLiveMail>()("ScriptOfLiveMail", {}) {
  readonly status = 400
  readonly reason = "script_of_live_mail"
  override get message() {
    return "Only test mail has a script. Send it with a test key, or leave out the header X-Waybill-Script."
  }
  get details(): ReadonlyArray<Detail> {
    return [{ path: "headers.X-Waybill-Script", message: "is allowed with a test key only" }]
  }
}

/** A message with headers that a mail provider would obey. */
export class HeaderNotAllowed extends Schema.TaggedError<HeaderNotAllowed>()("HeaderNotAllowed", {
  /** Names as the message spells them. */
  names: Schema.Array(Schema.String),
}) {
  readonly status = 400
  readonly reason = "header_not_allowed"
  override get message() {
    const [first = "", ...more] = this.names
    const subject = more.length === 0 ? `The header ${first} is` : `The headers ${this.names.join(", ")} are`
    return `${subject} not allowed: mail providers take such headers as instructions. Leave them out, or ask your operator to allow them.`
  }
  get details(): ReadonlyArray<Detail> {
    return this.names.map((name) => ({
      path: `headers.${name}`,
      message: "is an instruction to a mail provider and cannot be set",
    }))
  }
}

/** The field of a message that names the sender's domain. */
const Field = Schema.Literals(["from", "headers.Sender"])

export class DomainNotVerified extends Schema.TaggedError<DomainNotVerified>()("DomainNotVerified", {
  field: Field,
  domain: Schema.String,
  /** `null` if the account has no such domain. */
  domain_status: Schema.NullOr(Schema.String),
}) {
  readonly status = 422
  readonly reason = "domain_not_verified"
  override get message() {
    if (this.domain_status === null)
      return `The domain ${this.domain} is not a domain of this account. Add it with POST /v1/domains and publish its DKIM record.`
    const verify = `with POST /v1/domains/${this.domain}/verify`
    return this.domain_status === "failed"
      ? `The verification of the domain ${this.domain} has failed: its DKIM record was not found. Publish the record, then verify the domain ${verify}.`
      : `The domain ${this.domain} is not verified yet. Publish its DKIM record, then verify it ${verify}.`
  }
  get details(): ReadonlyArray<Detail> {
    return [{ path: this.field, message: `${this.domain} must be a verified domain of this account` }]
  }
}

export class DomainNotAllowed extends Schema.TaggedError<DomainNotAllowed>()("DomainNotAllowed", {
  field: Field,
  domain: Schema.String,
  allowed: Schema.String,
}) {
  readonly status = 403
  readonly reason = "domain_not_allowed"
  override get message() {
    return `This API key can send from ${this.allowed} only, not from ${this.domain}.`
  }
  get details(): ReadonlyArray<Detail> {
    return [{ path: this.field, message: `the key is limited to ${this.allowed}` }]
  }
}

export class RecipientLimitExceeded extends Schema.TaggedError<RecipientLimitExceeded>()("RecipientLimitExceeded", {
  recipients: Schema.Int,
  limit: Schema.Int,
  plan: Schema.String,
}) {
  readonly status = 422
  readonly reason = "recipient_limit_exceeded"
  override get message() {
    return `The ${this.plan} plan allows ${this.limit} recipients per request across to, cc and bcc; ${this.recipients} were given.`
  }
}

export class ScheduledAtOutOfRange extends Schema.TaggedError<ScheduledAtOutOfRange>()("ScheduledAtOutOfRange", {
  scheduled_at: Timestamp.Timestamp,
  earliest: Timestamp.Timestamp,
  latest: Timestamp.Timestamp,
}) {
  readonly status = 422
  readonly reason = "scheduled_at_out_of_range"
  override get message() {
    return `\`scheduled_at\` must be between ${this.earliest} and ${this.latest}; it is ${this.scheduled_at}.`
  }
  get details(): ReadonlyArray<Detail> {
    return [{ path: "scheduled_at", message: "must be at most 60 seconds in the past and 30 days ahead" }]
  }
}

/** More content of scheduled mail than an account may store. */
export class ScheduledSizeExceeded extends Schema.TaggedError<ScheduledSizeExceeded>()("ScheduledSizeExceeded", {
  bytes: Schema.Int,
  size_bytes: Schema.Int,
  limit: Schema.Int,
}) {
  readonly status = 422
  readonly reason = "scheduled_size_exceeded"
  override get message() {
    return (
      `The content of scheduled mail may have ${mebibytes(this.limit)} MiB; ${mebibytes(this.bytes)} are stored, and this ` +
      `email has ${mebibytes(this.size_bytes)}. Sent mail no longer counts, canceled mail for up to an hour. ` +
      "Send this email without `scheduled_at`, or later."
    )
  }
}

const mebibytes = (bytes: number): number => Math.ceil((bytes / 1024 / 1024) * 100) / 100

export class TrackingUnavailable extends Schema.TaggedError<TrackingUnavailable>()("TrackingUnavailable", {
  /** The request field that asks for tracking. */
  path: Schema.String,
}) {
  readonly status = 422
  readonly reason = "tracking_unavailable"
  override get message() {
    return "Opens and clicks cannot be tracked, because this service has no public address for tracked links. Its operator can set TRACKING_URL or BASE_URL."
  }
  get details(): ReadonlyArray<Detail> {
    return [{ path: this.path, message: "requires TRACKING_URL or BASE_URL" }]
  }
}

export class AllRecipientsSuppressed extends Schema.TaggedError<AllRecipientsSuppressed>()("AllRecipientsSuppressed", {
  addresses: Schema.Array(Schema.String),
}) {
  readonly status = 422
  readonly reason = "all_recipients_suppressed"
  override get message() {
    const count = this.addresses.length
    return count === 1
      ? `The only recipient, ${this.addresses[0]}, is suppressed.`
      : `All ${count} recipients are suppressed.`
  }
  get details(): ReadonlyArray<Detail> {
    return this.addresses.map((address) => ({ path: "to", message: `${address} is suppressed` }))
  }
}

export class MonthlyQuotaExceeded extends Schema.TaggedError<MonthlyQuotaExceeded>()("MonthlyQuotaExceeded", {
  used: Schema.Int,
  limit: Schema.Int,
  recipients: Schema.Int,
  mode: Schema.Literals(["live", "test"]),
  resets_at: Timestamp.Timestamp,
  retry_after_s: Schema.Int,
}) {
  readonly status = 429
  readonly reason = "monthly_quota"
  override get message() {
    return (
      `${this.used} of ${this.limit} ${this.mode === "test" ? "test emails" : "emails"} of this month are used; ` +
      `${this.recipients} more would exceed the quota. ` +
      `It resets at ${this.resets_at}.`
    )
  }
}

export class NotCancelable extends Schema.TaggedError<NotCancelable>()("NotCancelable", {
  email_status: EmailStatus.Status,
}) {
  readonly status = 422
  readonly reason = "not_cancelable"
  override get message() {
    return this.email_status === "queued"
      ? "This email is being delivered, so it can no longer be canceled or rescheduled."
      : `Only a queued email can be canceled or rescheduled; this one is ${this.email_status}.`
  }
}

export class RescheduledTooOften extends Schema.TaggedError<RescheduledTooOften>()("RescheduledTooOften", {
  most: Schema.Int,
}) {
  readonly status = 422
  readonly reason = "rescheduled_too_often"
  override get message() {
    return `An email can be rescheduled at most ${this.most} times. Cancel it and send a new one.`
  }
}

export class NothingToResend extends Schema.TaggedError<NothingToResend>()("NothingToResend", {
  recipients: Schema.Int,
  /** Those for whom delivery is still in progress. */
  in_progress: Schema.Int,
}) {
  readonly status = 422
  readonly reason = "nothing_to_resend"
  override get message() {
    const reached = this.recipients - this.in_progress
    const received = `${reached} of ${this.recipients} recipients have received this email`
    if (this.in_progress === 0) return `There is nothing to resend: ${received}.`
    const others = `it is still being sent to ${reached === 0 ? (this.recipients === 1 ? "its recipient" : "its recipients") : `the other ${this.in_progress}`}`
    return `There is nothing to resend: ${reached === 0 ? others : `${received}, and ${others}`}.`
  }
}

export class ContentExpired extends Schema.TaggedError<ContentExpired>()("ContentExpired", {}) {
  readonly status = 422
  readonly reason = "content_expired"
  override get message() {
    return "The content of this email is no longer kept, so it can be neither shown nor sent again."
  }
}

export class ReceiptPending extends Schema.TaggedError<ReceiptPending>()("ReceiptPending", {}) {
  readonly status = 422
  readonly reason = "receipt_pending"
  override get message() {
    return "The last events of this mail are not in a signed checkpoint of the log yet. Ask again in a few seconds."
  }
}

export class ReceiptErased extends Schema.TaggedError<ReceiptErased>()("ReceiptErased", {}) {
  readonly status = 422
  readonly reason = "receipt_erased"
  override get message() {
    return "Data of this mail was erased, and with it what a receipt needs. The log still holds the hashes of its events."
  }
}

export class ReceiptMismatch extends Schema.TaggedError<ReceiptMismatch>()("ReceiptMismatch", {}) {
  readonly status = 422
  readonly reason = "receipt_mismatch"
  override get message() {
    return "The history of this mail is not what the log holds: it was changed outside of the service. `waybill audit` names the events."
  }
}
