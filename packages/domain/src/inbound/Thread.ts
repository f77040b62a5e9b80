import * as Id from "../values/Id.ts"

/** Where a received mail belongs: its conversation, and the sent email that it answers. */
export interface Place {
  readonly thread_id: Id.ThreadId
  readonly email_id: Id.EmailId | null
}

/** Message-IDs that decide about a thread: the header may list thousands. */
export const MAX_REFERENCES = 50

/** The Message-ID of an email of this service is its id, at the domain of the sender. */
const OWN = new RegExp(`^<?(msg_${Id.BASE32})@`, "u")

/** Returns the email of this service that a Message-ID names; undefined for any other one. */
export const emailOf = (message_id: string): Id.EmailId | undefined =>
  OWN.exec(message_id)?.[1] as Id.EmailId | undefined

/** Returns the thread that begins with a mail: the same letters under another prefix. */
export const startedBy = (root: Id.EmailId | Id.InboundId): Id.ThreadId =>
  `${Id.PREFIXES.ThreadId}${root.slice(root.indexOf("_"))}` as Id.ThreadId

/** Returns the email that a thread begins with, if a sent one does. */
export const emailAtStart = (thread: Id.ThreadId): Id.EmailId =>
  `${Id.PREFIXES.EmailId}${thread.slice(thread.indexOf("_"))}` as Id.EmailId

/** The Message-IDs that a mail refers to, the nearest one first, each once. */
export const referencesOf = (in_reply_to: string | null, references: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...new Set([...(in_reply_to === null ? [] : [in_reply_to]), ...references.toReversed()].slice(0, MAX_REFERENCES)),
]

/** Mails of the account among those that a mail refers to. */
export interface Known {
  /** Emails of the account. */
  readonly emails: ReadonlySet<Id.EmailId>
  /** Threads of received mails, by their Message-ID. */
  readonly threads: ReadonlyMap<string, Id.ThreadId>
}

/**
 * Places a mail: it continues the thread of the nearest mail that it refers to and the account has. It answers the
 * nearest sent email among them.
 */
export const place = (id: Id.InboundId, references: ReadonlyArray<string>, known: Known): Place => {
  const emails = references.flatMap((reference) => {
    const email = emailOf(reference)
    return email !== undefined && known.emails.has(email) ? [email] : []
  })
  const received = references.flatMap((reference) => known.threads.get(reference) ?? [])
  const [email_id = null] = emails
  const own = email_id === null ? startedBy(id) : startedBy(email_id)
  return { thread_id: received[0] ?? own, email_id }
}
