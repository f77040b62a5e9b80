import * as Table from "@waybill/domain/values/Table"
import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import type { Refusal } from "@waybill/domain/values/Refusal"
import { Data } from "effect"
import * as Replies from "./session/Replies.ts"

/** A reply that refuses a command, with the codes of RFC 5321 (`code`) and RFC 3463 (`enhanced`). */
export class SmtpReply extends Data.TaggedError("SmtpReply")<{
  readonly code: number
  readonly enhanced: string
  readonly words: string
}> {
  override get message() {
    return Replies.line(this.enhanced, this.words)
  }
}

export const reply = (code: number, enhanced: string, words: string): SmtpReply =>
  new SmtpReply({ code, enhanced, words })

/** SMTP codes of the reasons for which the API refuses a message. docs/smtp.md has the same table. */
const BY_REASON: { readonly [reason: string]: readonly [code: number, enhanced: string] } = {
  api_key_missing: [535, "5.7.8"],
  api_key_invalid: [535, "5.7.8"],
  missing_scope: [550, "5.7.1"],
  request_rate: [450, "4.7.0"],
  monthly_quota: [452, "4.2.2"],
  domain_not_allowed: [550, "5.7.1"],
  domain_not_verified: [550, "5.7.1"],
  recipient_limit_exceeded: [554, "5.5.3"],
  scheduled_size_exceeded: [452, "4.2.2"],
  all_recipients_suppressed: [550, "5.2.1"],
  scheduled_at_out_of_range: [554, "5.6.0"],
  tracking_unavailable: [554, "5.6.0"],
  validation_failed: [554, "5.6.0"],
  idempotency_key_reused: [554, "5.5.4"],
  template_archived: [550, "5.6.0"],
  template_incomplete: [550, "5.6.0"],
  template_invalid: [550, "5.6.0"],
  template_not_a_template: [550, "5.6.0"],
  template_not_found: [550, "5.6.0"],
  template_not_published: [550, "5.6.0"],
  template_not_rendered: [550, "5.6.0"],
  template_variables_invalid: [550, "5.6.0"],
  template_version_not_found: [550, "5.6.0"],
}

export const ofRefusal = (refusal: Refusal): SmtpReply => {
  const [code, enhanced] =
    Table.at(BY_REASON, refusal.reason) ?? (refusal.status < 500 ? [554, "5.0.0"] : [451, "4.3.0"])
  const wait =
    refusal.retry_after_s === undefined || refusal.reason === "request_rate"
      ? ""
      : ` Retry after ${refusal.retry_after_s} s.`
  return reply(code, enhanced, `${refusal.reason}: ${messageOf(refusal)}${wait}`)
}

/** Returns the API's message without its pointer to `details`, which SMTP replies do not have. */
const messageOf = (refusal: Refusal): string => {
  if (refusal instanceof RequestRefusal.InvalidRequest) return refusal.first
  // The details of a template are all that is wrong, as many of them as a reply can hold.
  return refusal.reason.startsWith("template_") && refusal.details !== undefined && refusal.details.length > 0
    ? `${refusal.details.map(({ message, path }) => (path === "" ? message : `\`${path}\` ${message}`)).join("; ")}.`
    : refusal.message
}

/** Reply to an internal error: the client keeps the message and tries again. */
export const INTERNAL_ERROR = reply(451, "4.3.0", "Something went wrong on our side, please try again later")

export const REPORTS_BUSY = reply(451, "4.3.2", "Too many reports are being read at once, please try again later")
/** Reply to a report about an attempt whose outcome is not recorded yet. */
export const TOO_EARLY = reply(451, "4.3.0", "The mail that this is about is still being sent, please try again later")
