import * as Address from "@waybill/domain/values/Address"
import * as Email from "@waybill/domain/email/Email"
import * as EmailState from "@waybill/domain/email/EmailState"
import * as EmailCodes from "./EmailCodes.ts"
import * as EmailFacets from "./EmailFacets.ts"
import * as EmailSubjects from "./EmailSubjects.ts"
import * as TermKey from "../../postgres/TermKey.ts"
import * as ReadModel from "../ReadModel.ts"

export const recipientTerm = (address: Address.Address): string => `to:${Address.keyOf(address)}`
export const senderTerm = (address: Address.Address): string => `from:${Address.keyOf(address)}`
export const tagTerm = (tag: string): string => `tag:${tag}`
/** Names have no line breaks, so that no two pairs have the same term. */
export const metadataTerm = (name: string, value: string): string => `metadata:${name}\n${value}`
export const templateTerm = (id: string): string => `template:${id}`
export const fromKey = (address: Address.Address): TermKey.TermKey => TermKey.of(senderTerm(address))
export const domainKey = (domain: string): number => TermKey.shortOf(`domain:${domain}`)

const recipientKey = ({ address }: EmailState.AcceptedEmail["recipients"][number]): TermKey.TermKey =>
  TermKey.of(recipientTerm(address))
const tagKey = (tag: string): TermKey.TermKey => TermKey.of(tagTerm(tag))

/** Search terms of a message that `email_words` holds: its recipients, its sender and its tags. */
export const wordsOf = ({ accepted, recipients }: EmailState.AcceptedEmail): ReadonlyArray<string> => [
  ...recipients.map(({ address }) => recipientTerm(address)),
  senderTerm(accepted.from.address),
  ...accepted.tags.map(tagTerm),
]

const furtherTerms = ({ accepted }: EmailState.AcceptedEmail): ReadonlyArray<string> => [
  ...Object.entries(accepted.metadata ?? {}).map(([name, value]) => metadataTerm(name, value)),
  ...(accepted.template === undefined ? [] : [templateTerm(accepted.template.id)]),
]

/** All terms of recipients, sender, tags, metadata and template that a message is found by. */
export const termsOf = (message: EmailState.AcceptedEmail): ReadonlyArray<string> => [
  ...wordsOf(message),
  ...furtherTerms(message),
]

/** The key of a row, and what later events change of it. */
const changedOf = ({ account_id, stream_id, version }: ReadModel.StreamVersion, message: EmailState.AcceptedEmail) => {
  const status = EmailState.status(message)
  return {
    account_id: account_id as string,
    id: stream_id,
    version,
    status: EmailFacets.numberOf(status),
    listed: EmailFacets.listedAs(status),
    facets: EmailFacets.of(message),
    code: EmailCodes.of(message.recipients),
  }
}

/** Rows of the log hold what a message is found by. `EmailLogRecord` folds what is shown of it from its events. */
export const readModel = ReadModel.make({
  name: "email_log",
  stream: Email.stream,
  key: ["account_id", "id"],
  changes: ["version", "status", "listed", "facets", "code"],
  types: {
    account_id: "AccountId",
    id: "EmailId",
    from_key: "bigint",
    subject_key: "bigint",
    to_key: "bigint",
    tag_key: "bigint",
    domain_key: "int",
    version: "int",
    status: "smallint",
    listed: "smallint",
    facets: "smallint",
    code: "smallint",
  },
  rows: (stream, state: Email.State) => {
    if (state._tag === "NotCreated") return []
    const { accepted } = state
    return [
      {
        from_key: fromKey(accepted.from.address),
        subject_key: EmailSubjects.keyOf(accepted.subject),
        to_key: TermKey.lowestOf(state.recipients, recipientKey) ?? NO_RECIPIENT,
        tag_key: TermKey.lowestOf(accepted.tags, tagKey) ?? null,
        domain_key: domainKey(accepted.domain),
        ...changedOf(stream, state),
      },
    ]
  },
  changed: (stream, state: Email.State) => (state._tag === "NotCreated" ? [] : [changedOf(stream, state)]),
})

/** Adds the keys of some values, each once, besides the lowest. */
const addOthers = <A>(
  keys: Array<TermKey.TermKey>,
  values: ReadonlyArray<A>,
  keyOf: (value: A) => TermKey.TermKey,
): void => {
  if (values.length <= 1) return
  const lowest = TermKey.lowestOf(values, keyOf)
  for (const value of values) {
    const key = keyOf(value)
    if (key !== lowest && !keys.includes(key)) keys.push(key)
  }
}

/** Key of the recipient of a message that has none. The domain accepts no such message. */
const NO_RECIPIENT: TermKey.TermKey = 0n

/**
 * Recipients and tags of a message besides those that its row of the log holds, its metadata and its template: few messages
 * have any.
 */
export const terms = ReadModel.make({
  name: "email_log_terms",
  stream: Email.stream,
  key: ["account_id", "term", "email_id"],
  changes: [],
  types: { account_id: "AccountId", term: "bigint", email_id: "EmailId" },
  rows: ({ account_id, stream_id }, state: Email.State) => {
    if (state._tag === "NotCreated") return []
    const others: Array<TermKey.TermKey> = []
    addOthers(others, state.recipients, recipientKey)
    addOthers(others, state.accepted.tags, tagKey)
    const { metadata, template } = state.accepted
    if (metadata !== undefined || template !== undefined) others.push(...new Set(furtherTerms(state).map(TermKey.of)))
    return others.map((term) => ({ account_id: account_id as string, term, email_id: stream_id }))
  },
})
