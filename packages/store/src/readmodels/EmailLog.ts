import * as Address from "@waybill/domain/values/Address"
import * as Email from "@waybill/domain/email/Email"
import * as EmailFacets from "../search/EmailFacets.ts"
import * as EmailSubjects from "../search/EmailSubjects.ts"
import * as ReadModel from "./ReadModel.ts"

/** Rows of the log hold what a message is found by. `EmailLogRecord` folds what is shown of it from its events. */
export const readModel = ReadModel.make({
  name: "email_log",
  stream: Email.stream,
  key: ["account_id", "id"],
  changes: ["version", "status", "facets", "scheduled_at"],
  types: {
    account_id: "text",
    id: "text",
    version: "int",
    status: "text",
    facets: "int",
    domain: "text",
    from_address: "text",
    subject: "text",
    scheduled_at: "timestamptz",
  },
  rows: ({ account_id, stream_id, version }, state: Email.State) => {
    if (state._tag === "NotCreated") return []
    const { accepted, scheduled_at } = state
    return [
      {
        account_id,
        id: stream_id,
        version,
        status: Email.status(state),
        facets: EmailFacets.of(state),
        domain: accepted.domain,
        from_address: Address.keyOf(accepted.from.address),
        // Folded for search; the event holds the original text.
        subject: EmailSubjects.fold(accepted.subject),
        scheduled_at,
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
