import * as Address from "@waybill/domain/values/Address"
import * as Email from "@waybill/domain/email/Email"
import * as EmailStatus from "@waybill/domain/email/EmailStatus"
import type { Recipient } from "@waybill/domain/email/Recipient"
import * as EmailFacets from "../search/EmailFacets.ts"
import * as EmailSubjects from "../search/EmailSubjects.ts"
import * as ReadModel from "./ReadModel.ts"

/** Returns the complete log record of a message (contract §5). A page of the log is a list of these rows, unchanged. */
export const record = (message: Email.Message, version: number): Readonly<Record<string, unknown>> => {
  const { accepted, recipients } = message
  const delivered = recipients.flatMap(({ delivered_at }) => (delivered_at === null ? [] : [delivered_at]))
  const nextAttempts = recipients.flatMap(({ next_attempt_at }) => (next_attempt_at === null ? [] : [next_attempt_at]))
  const mailbox = (each: Address.Mailbox) => Address.format(each)
  return {
    object: "email_log",
    id: accepted.email_id,
    message_id: accepted.message_id,
    status: Email.status(message),
    from: mailbox(accepted.from),
    to: accepted.to.map(mailbox),
    cc: accepted.cc.map(mailbox),
    bcc: accepted.bcc.map(mailbox),
    reply_to: accepted.reply_to.map(mailbox),
    subject: accepted.subject,
    tags: accepted.tags,
    created_at: accepted.created_at,
    updated_at: message.updated_at,
    scheduled_at: message.scheduled_at,
    // The first delivery to any recipient: when the message began to arrive.
    delivered_at: delivered.length === 0 ? null : delivered.reduce((a, b) => (a < b ? a : b)),
    next_attempt_at: nextAttempts.length === 0 ? null : nextAttempts.reduce((a, b) => (a < b ? a : b)),
    attempts: recipients.reduce((most, { attempts }) => Math.max(most, attempts), 0),
    opens: message.opens,
    clicks: message.clicks,
    api_key_id: accepted.api_key_id,
    ...(accepted.test_clock === undefined ? {} : { test_clock: accepted.test_clock }),
    domain: accepted.domain,
    ...(accepted.livemode === false ? { livemode: false } : {}),
    size_bytes: accepted.size_bytes,
    error: error(recipients),
    version,
    recipient_counts: EmailStatus.counts(recipients),
    recipients: recipients.map(({ address, attempts, kind, last_event_at, smtp, status, suppression }) => ({
      address,
      kind,
      status,
      attempts,
      last_event_at,
      suppression,
      smtp,
    })),
  }
}

const UNSUCCESSFUL: ReadonlyArray<EmailStatus.Status> = ["bounced", "failed", "deferred"]

/** Returns the error of the first recipient that has one; the errors of the others are in `recipients`. */
const error = (recipients: ReadonlyArray<Recipient>) => {
  const troubled = recipients.find(({ status }) => UNSUCCESSFUL.includes(status))
  if (troubled === undefined) return null
  const { address, smtp, status } = troubled
  return {
    recipient: address,
    status,
    category: smtp?.category ?? null,
    code: smtp?.code ?? null,
    enhanced_code: smtp?.enhanced_code ?? null,
    message: smtp?.response ?? null,
  }
}

export const readModel = ReadModel.make({
  name: "email_log",
  stream: Email.stream,
  key: ["account_id", "id"],
  changes: ["version", "status", "facets", "record"],
  types: {
    account_id: "text",
    id: "text",
    version: "int",
    status: "text",
    facets: "int",
    domain: "text",
    from_address: "text",
    subject: "text",
    record: "json",
  },
  rows: ({ account_id, stream_id, version }, state: Email.State) => {
    if (state._tag === "NotCreated") return []
    return [
      {
        account_id,
        id: stream_id,
        version,
        status: Email.status(state),
        facets: EmailFacets.of(state),
        domain: state.accepted.domain,
        from_address: Address.keyOf(state.accepted.from.address),
        // Folded for search; the record holds the original text.
        subject: EmailSubjects.fold(state.accepted.subject),
        record: record(state, version),
      },
    ]
  },
})

export const recipientTerm = (address: Address.Address): string => `to:${Address.keyOf(address)}`
export const tagTerm = (tag: string): string => `tag:${tag}`

/** Search terms of a message: its recipients, its tags and its subject. They do not change after acceptance. */
export const terms = ReadModel.make({
  name: "email_log_terms",
  stream: Email.stream,
  key: ["account_id", "term", "email_id"],
  changes: [],
  types: { account_id: "text", term: "text", email_id: "text" },
  rows: ({ account_id, stream_id }, state: Email.State) => {
    if (state._tag === "NotCreated") return []
    const words = new Set([
      ...state.recipients.map(({ address }) => recipientTerm(address)),
      ...state.accepted.tags.map(tagTerm),
      EmailSubjects.term(state.accepted.subject),
    ])
    return [...words].map((term) => ({ account_id, term, email_id: stream_id }))
  },
})
