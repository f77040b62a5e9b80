import type * as Livemode from "../account/Livemode.ts"
import * as Refusal from "../values/Refusal.ts"
import type * as EmailStatus from "./EmailStatus.ts"
import type * as Timestamp from "../values/Timestamp.ts"

export class EmailNotFound extends Refusal.of("EmailNotFound", 404, "email_not_found")<{
  /** That of the account's email with this id, which keys of the other mode do not see. */
  readonly mode?: Livemode.Mode
}> {
  override get message() {
    return this.mode === undefined
      ? "No email with this id exists in this account."
      : `The email with this id is ${this.mode} mail; use a ${this.mode} key.`
  }
}

export class EmailNotCaptured extends Refusal.of("EmailNotCaptured", 404, "email_not_captured") {
  override readonly message =
    "The sandbox has no mail with this id. It keeps mail that reached a recipient, for 7 days. " +
    "GET /v1/email/logs/{id} shows an email in any state."
}

const TEST_CLOCK_FIELD = "headers.X-Waybill-Test-Clock"

/** A live message that names a test clock. */
export class TestClockOfLiveMail extends Refusal.of("TestClockOfLiveMail", 400, "test_clock_of_live_mail") {
  override readonly message = "Live mail never lives on a test clock. Send it with a test key, or leave the header out."
  readonly details = [{ path: TEST_CLOCK_FIELD, message: "is allowed with a test key only" }]
}

/** A test clock that the account does not have, or no longer. */
export class TestClockUnknown extends Refusal.of("TestClockUnknown", 422, "test_clock_not_found")<{
  readonly clock: string
}> {
  override readonly message = `This account has no test clock ${this.clock}. Create one with POST /v1/test/clocks.`
  readonly details = [{ path: TEST_CLOCK_FIELD, message: "must be a test clock of this account that is not deleted" }]
}

/** A live message with a script. */
export class ScriptOfLiveMail extends Refusal.of("ScriptOfLiveMail", 400, "script_of_live_mail") {
  override readonly message =
    "Only test mail has a script. Send it with a test key, or leave out the header X-Waybill-Script."
  readonly details = [{ path: "headers.X-Waybill-Script", message: "is allowed with a test key only" }]
}

/** A message with headers that a mail provider would obey. */
export class HeaderNotAllowed extends Refusal.of("HeaderNotAllowed", 400, "header_not_allowed")<{
  /** Names as the message spells them. */
  readonly names: ReadonlyArray<string>
}> {
  override get message() {
    const [first = "", ...more] = this.names
    const [subject, them] =
      more.length === 0 ? [`The header ${first} is`, "it"] : [`The headers ${this.names.join(", ")} are`, "them"]
    return `${subject} not allowed: mail providers take such headers as instructions. Leave ${them} out, or ask your operator to allow them.`
  }
  readonly details = this.names.map((name) => ({
    path: `headers.${name}`,
    message: "is an instruction to a mail provider and cannot be set",
  }))
}

/** The field of a message that names the sender's domain. */
type Field = "from" | "headers.Sender"

export class DomainNotVerified extends Refusal.of("DomainNotVerified", 422, "domain_not_verified")<{
  readonly field: Field
  readonly domain: string
  /** `null` if the account has no such domain. */
  readonly domain_status: string | null
  /** The domain of the account that was probably meant. */
  readonly nearest?: string | undefined
  /** The provider of public mailboxes whose domain it is. */
  readonly provider?: string | undefined
}> {
  override get message() {
    if (this.provider !== undefined)
      return `Mail from ${this.domain} can only be sent by ${this.provider}. Send from an address at a domain of your own.`
    if (this.domain_status === null)
      return `The domain ${this.domain} is not a domain of this account. Add it with POST /v1/domains and publish its DKIM record.${this.nearest === undefined ? "" : ` Did you mean ${this.nearest}?`}`
    const verify = `with POST /v1/domains/${this.domain}/verify`
    return this.domain_status === "failed"
      ? `The verification of the domain ${this.domain} has failed: its DKIM record was not found. Publish the record, then verify the domain ${verify}.`
      : `The domain ${this.domain} is not verified yet. Publish its DKIM record, then verify it ${verify}.`
  }
  readonly details = [{ path: this.field, message: `${this.domain} must be a verified domain of this account` }]
}

/** Whether a message is refused because the account does not have the domain of its sender. */
export const isOfUnknownDomain = (error: unknown): error is DomainNotVerified =>
  error instanceof DomainNotVerified && error.domain_status === null

/** Adds to a refusal the domain of the account that was probably meant, and the provider whose domain it is. */
export const withNearest = (
  { domain, domain_status, field }: DomainNotVerified,
  nearest: string | undefined,
  provider: string | undefined,
) => new DomainNotVerified({ domain, domain_status, field, nearest, provider })

export class DomainNotAllowed extends Refusal.of("DomainNotAllowed", 403, "domain_not_allowed")<{
  readonly field: Field
  readonly domain: string
  readonly allowed: string
}> {
  override readonly message = `This API key can send from ${this.allowed} only, not from ${this.domain}.`
  readonly details = [{ path: this.field, message: `the key is limited to ${this.allowed}` }]
}

export class RecipientLimitExceeded extends Refusal.of("RecipientLimitExceeded", 422, "recipient_limit_exceeded")<{
  readonly recipients: number
  readonly limit: number
  readonly plan: string
}> {
  override readonly message = `The ${this.plan} plan allows ${this.limit} recipients per request across to, cc and bcc; ${this.recipients} were given.`
}

export class ScheduledAtOutOfRange extends Refusal.of("ScheduledAtOutOfRange", 422, "scheduled_at_out_of_range")<{
  readonly scheduled_at: Timestamp.Timestamp
  readonly earliest: Timestamp.Timestamp
  readonly latest: Timestamp.Timestamp
}> {
  override readonly message = `Mail can be scheduled from ${this.earliest} to ${this.latest}; this is for ${this.scheduled_at}.`
  readonly details = [{ path: "scheduled_at", message: "must be at most 60 seconds in the past and 30 days ahead" }]
}

/** More content of scheduled mail than an account may store. */
export class ScheduledSizeExceeded extends Refusal.of("ScheduledSizeExceeded", 422, "scheduled_size_exceeded")<{
  readonly bytes: number
  readonly size_bytes: number
  readonly limit: number
}> {
  override readonly message =
    `The content of scheduled mail may have ${mebibytes(this.limit)} MiB; ${mebibytes(this.bytes)} are stored, and this ` +
    `email has ${mebibytes(this.size_bytes)}. Sent mail no longer counts, canceled mail for up to an hour. ` +
    "Send this email at once, or later."
}

const mebibytes = (bytes: number): number => Math.ceil((bytes / 1024 / 1024) * 100) / 100

export class TrackingUnavailable extends Refusal.of("TrackingUnavailable", 422, "tracking_unavailable")<{
  /** The request field that asks for tracking. */
  readonly path: string
}> {
  override readonly message =
    "Opens and clicks cannot be tracked, because this service has no public address for tracked links. Its operator can set TRACKING_URL or BASE_URL."
  readonly details = [{ path: this.path, message: "requires TRACKING_URL or BASE_URL" }]
}

export class AllRecipientsSuppressed extends Refusal.of("AllRecipientsSuppressed", 422, "all_recipients_suppressed")<{
  readonly recipients: ReadonlyArray<{ readonly address: string; readonly reason: string }>
}> {
  override get message() {
    const [first, ...more] = this.recipients
    const subject =
      first === undefined || more.length > 0
        ? `All ${this.recipients.length} recipients are suppressed.`
        : `The only recipient, ${first.address}, is suppressed (${first.reason}).`
    return `${subject} Look it up at /v1/suppressions, and remove it there if mail is wanted again.`
  }
  readonly details = this.recipients.map(({ address, reason }) => ({
    path: "to",
    message: `${address} is suppressed (${reason})`,
  }))
}

export class MonthlyQuotaExceeded extends Refusal.of("MonthlyQuotaExceeded", 429, "monthly_quota")<{
  readonly used: number
  readonly limit: number
  readonly recipients: number
  readonly mode: "live" | "test"
  readonly resets_at: Timestamp.Timestamp
  readonly retry_after_s: number
}> {
  override readonly message =
    `${this.used} of ${this.limit} ${this.mode === "test" ? "test emails" : "emails"} of this month are used; ` +
    `${this.recipients} more would exceed the quota. ` +
    `It resets at ${this.resets_at}.`
}

export class NotCancelable extends Refusal.of("NotCancelable", 422, "not_cancelable")<{
  readonly email_status: EmailStatus.Status
}> {
  override readonly message =
    this.email_status === "queued"
      ? "This email is being delivered, so it can no longer be canceled or rescheduled."
      : `Only a queued email can be canceled or rescheduled; this one is ${this.email_status}.`
}

export class RescheduledTooOften extends Refusal.of("RescheduledTooOften", 422, "rescheduled_too_often")<{
  readonly most: number
}> {
  override readonly message = `An email can be rescheduled at most ${this.most} times. Cancel it and send a new one.`
}

export class NothingToResend extends Refusal.of("NothingToResend", 422, "nothing_to_resend")<{
  readonly recipients: number
  /** Those for whom delivery is still in progress. */
  readonly in_progress: number
}> {
  override get message() {
    const reached = this.recipients - this.in_progress
    const received = `${reached} of ${this.recipients} recipients have received this email`
    if (this.in_progress === 0) return `There is nothing to resend: ${received}.`
    const others = `it is still being sent to ${reached === 0 ? (this.recipients === 1 ? "its recipient" : "its recipients") : `the other ${this.in_progress}`}`
    return `There is nothing to resend: ${reached === 0 ? others : `${received}, and ${others}`}.`
  }
}

export class ContentExpired extends Refusal.of("ContentExpired", 422, "content_expired") {
  override readonly message = "The content of this email is no longer kept, so it can be neither shown nor sent again."
}

export class ReceiptPending extends Refusal.of("ReceiptPending", 422, "receipt_pending") {
  override readonly message =
    "The last events of this mail are not in a signed checkpoint of the log yet. Ask again in a few seconds."
}

export class ReceiptErased extends Refusal.of("ReceiptErased", 422, "receipt_erased") {
  override readonly message =
    "Data of this mail was erased, and with it what a receipt needs. The log still holds the hashes of its events."
}

export class ReceiptMismatch extends Refusal.of("ReceiptMismatch", 422, "receipt_mismatch") {
  override readonly message =
    "The history of this mail is not what the log holds: it was changed outside of the service. `waybill audit` names the events."
}
