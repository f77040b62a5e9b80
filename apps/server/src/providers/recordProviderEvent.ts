import type { PgClient } from "@effect/sql-pg"
import * as Address from "@waybill/domain/values/Address"
import * as Email from "@waybill/domain/email/Email"
import type * as EmailState from "@waybill/domain/email/EmailState"
import * as ReportComplaint from "@waybill/mail/report/ReportComplaint"
import * as ReportFact from "@waybill/mail/report/ReportFact"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as ProviderMessages from "@waybill/store/providers/ProviderMessages"
import { Effect, Result } from "effect"
import type { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import { Visits } from "../links/Visits.ts"
import * as NewIds from "../process/NewIds.ts"
import { recordReport } from "../worker/delivery/recordReport.ts"
import type { Kind, ProviderEvent } from "./formats/ProviderEvent.ts"

export type Outcome = "recorded" | "unchanged" | "unmatched"

/**
 * Records an event of a provider about a message by the same ways as the reports of mail servers and the visits of tracked links. Events
 * that came before, come late or in another order change nothing more.
 */
export const recordProviderEvent = Effect.fn("recordProviderEvent")(function* (
  hook_id: string,
  event: ProviderEvent,
  { account_id, email_id }: ProviderMessages.HandedOver,
  address: string,
): Effect.fn.Return<Outcome, StoreUnavailable, EventStore | PgClient.PgClient | Visits> {
  const store = yield* EventStore
  const state = yield* store.state(Email, { account_id, stream_id: email_id })
  if (state._tag === "NotCreated") return "unmatched"
  if (event.kind === "opened" || event.kind === "clicked") {
    // A repeated call reports the same visit, which counts once.
    if (!(yield* ProviderMessages.noteVisit(hook_id, event.id, { account_id, email_id }))) return "unchanged"
    const { note } = yield* Visits
    note({
      mail: { account_id, email_id },
      url: event.kind === "opened" ? null : (event.url ?? ""),
      user_agent: event.userAgent ?? null,
      ip: event.ip ?? null,
      at: yield* NewIds.now,
    })
    return "recorded"
  }
  const recipientIndex = indexOf(state.recipients, event.recipient)
  if (recipientIndex === -1) return "unmatched"
  // That the mail is no spam, or that somebody forged it.
  if (event.kind === "complained" && !ReportComplaint.isComplaint(event.feedback)) return "unchanged"
  const about = { account_id, address, emailId: email_id, recipientIndex }
  // Too early is a report about several recipients only, and this one names its own.
  const recorded = yield* Effect.catchTag(recordReport(about, [factOf(event, event.kind)]), "TooEarly", () =>
    Effect.succeed(0),
  )
  return recorded > 0 ? "recorded" : "unchanged"
})

/** The recipient that an event names, or the only one. */
const indexOf = (recipients: EmailState.AcceptedEmail["recipients"], named: string | undefined): number => {
  const parsed = named === undefined ? undefined : Address.parseHeld(named)
  const key = parsed !== undefined && Result.isSuccess(parsed) ? Address.keyOf(parsed.success) : undefined
  const index = recipients.findIndex(({ address }) => Address.keyOf(address) === key)
  return index === -1 && key === undefined && recipients.length === 1 ? 0 : index
}

const KINDS: { readonly [K in Exclude<Kind, "opened" | "clicked">]: ReportFact.ReportFact["kind"] } = {
  delivered: "delivered",
  deferred: "delayed",
  bounced: "bounce",
  complained: "complaint",
}

const factOf = (event: ProviderEvent, kind: keyof typeof KINDS): ReportFact.ReportFact => {
  const { code, feedback, mx, recipient, status, text } = event
  return {
    kind: KINDS[kind],
    recipient,
    originalRecipient: undefined,
    action: feedback,
    status,
    diagnostic: text !== undefined && code !== undefined && !text.startsWith(String(code)) ? `${code} ${text}` : text,
    reportingMta: undefined,
    remoteMta: mx,
    originalMessageId: undefined,
    envelopeId: undefined,
    verdict: kind === "bounced" ? verdictOf(event) : undefined,
  }
}

/** The provider decides whether an address works; the rules for replies name the class. */
const verdictOf = ({ isHard, status, text }: ProviderEvent): ReportFact.ReportFact["verdict"] => {
  const judged = ReportFact.judge(text, status)
  if (isHard) return judged.suppress === "now" ? judged : { ...judged, class: "invalid_recipient", suppress: "now" }
  return judged.suppress === "now" ? { ...judged, class: "policy", suppress: "never" } : judged
}
