import type { PgClient } from "@effect/sql-pg"
import * as Email from "@waybill/domain/email/Email"
import * as FeedbackMail from "@waybill/mail/reading/Feedback"
import type { Feedback as ReadFeedback } from "@waybill/mail/report/readFeedback"
import * as FeedbackToken from "@waybill/mail/tokens/FeedbackToken"
import * as ReturnPath from "@waybill/mail/tokens/ReturnPath"
import * as EmailAccounts from "@waybill/store/routing/EmailAccounts"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as Metrics from "@waybill/store/log/Metrics"
import { Effect, Metric, Option, Result } from "effect"
import type { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import * as OutgoingMessages from "../worker/delivery/OutgoingMessages.ts"
import { recordReport } from "../worker/delivery/recordReport.ts"
import { REPORTS_BUSY, type SmtpReply, TOO_EARLY } from "./SmtpReply.ts"

/** Address for the feedback loops of mailbox providers; each mail to it is a complaint about the mail that it encloses. */
export const LOOP = "fbl"
/** Addresses that every mail domain has (RFC 2142); complaints in the form of a feedback loop are read there, too. */
const ROLES: ReadonlySet<string> = new Set([LOOP, "abuse", "postmaster"])

export const isRole = (localPart: string): boolean => ROLES.has(localPart.toLowerCase())

const countFeedback = Metrics.seriesBy(
  Metric.counter("waybill_feedback_total", {
    description: "Complaints at the addresses for feedback, by whether they were recorded or dropped",
    incremental: true,
  }),
  "outcome",
  ["recorded", "dropped"],
)

/**
 * Records a complaint about a mail that comes back with it. The mail is found by a MAC in it; anything else is dropped,
 * because anybody can write to these addresses.
 */
export const receive = Effect.fn("Feedback.receive")(function* (
  secretKeys: ReadonlyArray<Uint8Array>,
  bytes: Uint8Array,
  { address, isLoop }: { readonly address: string; readonly isLoop: boolean },
): Effect.fn.Return<void, SmtpReply | StoreUnavailable, EventStore | PgClient.PgClient> {
  const parsed = yield* Effect.result(FeedbackMail.parse(bytes))
  if (Result.isFailure(parsed)) {
    const { failure } = parsed
    if (failure._tag === "Busy") return yield* REPORTS_BUSY
    return yield* dropped(address, failure._tag === "Unread" ? failure.why : failure.reason)
  }
  const feedback = parsed.success
  if (!isLoop && !feedback.isLoop) return yield* dropped(address, "not_a_complaint")
  const bounced = mailOf(secretKeys, feedback)
  if (bounced === undefined) return yield* dropped(address, "no_mail_of_ours")
  const account_id = yield* EmailAccounts.accountOf(bounced.accountStart, bounced.emailId)
  if (Option.isNone(account_id)) return yield* dropped(address, "unknown_mail")
  const store = yield* EventStore
  const ref = { account_id: account_id.value, stream_id: bounced.emailId }
  const state = yield* store.state(Email, ref)
  // The mail of a single recipient was received by that one, whatever the provider redacts.
  const isSingle = state._tag === "Message" && state.recipients.length === 1
  const about = { ...bounced, ...(isSingle ? { recipientIndex: 0 } : {}), account_id: account_id.value, address }
  const recorded = yield* Effect.catchTag(recordReport(about, feedback.facts), "TooEarly", () => TOO_EARLY)
  if (recorded === 0) return yield* dropped(address, "nothing_new")
  countFeedback("recorded", 1)
})

const dropped = (from: string, reason: string) => {
  countFeedback("dropped", 1)
  return Effect.logInfo("complaint was dropped; it changed nothing", { from, reason })
}

/** The mail that is complained about, by its return path, which names the recipient, or else by our own header. */
const mailOf = (
  secretKeys: ReadonlyArray<Uint8Array>,
  { returnPath = "", token = "" }: ReadFeedback,
): ReturnPath.Bounced | undefined => {
  const local = returnPath.slice(0, Math.max(0, returnPath.lastIndexOf("@")))
  for (const key of secretKeys) {
    const bounced = ReturnPath.verify(key, local)
    if (Option.isSome(bounced)) return bounced.value
  }
  const mail = Option.getOrUndefined(FeedbackToken.verify(secretKeys, token))
  if (mail === undefined) return undefined
  const accountStart = ReturnPath.startOf(mail.account_id)
  return { accountStart, emailId: mail.email_id, recipientIndex: OutgoingMessages.WHOLE_MESSAGE }
}
