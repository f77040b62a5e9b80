import { Result } from "effect"
import * as Address from "../values/Address.ts"
import type { Envelope, Heading } from "./InboundState.ts"

/** Addresses that an answer goes to. A stranger names them, and the smallest plan sends to so many. */
export const MAX_ADDRESSES = 10
/** Maximum characters of all references of an answer; a header has at most 4,000. */
const MAX_REFERENCES_CHARS = 3_000
/** A Message-ID of printable ASCII that fits into a line. */
const MESSAGE_ID = /^<[!-~]{1,900}>$/u
const MAX_SUBJECT_CHARS = 998
const ANSWERED = /^re\s*:/iu

/** The parts of a mail that an answer follows from. */
export interface Answered extends Pick<Heading, "from" | "reply_to" | "subject" | "message_id" | "references"> {
  readonly envelope: Pick<Envelope, "from">
}

/** Returns the addresses that an answer goes to: the first ones of Reply-To, or else the author, or else the return path. */
export const recipientsOf = ({ envelope, from, reply_to }: Answered): ReadonlyArray<Address.Mailbox> => {
  const named = reply_to.length > 0 ? reply_to : from === null ? [] : [from]
  const usable = named.flatMap(({ address, name }) =>
    Result.match(Address.parseHeld(address), {
      onFailure: () => [],
      onSuccess: (address): ReadonlyArray<Address.Mailbox> => {
        const mailbox = name === undefined ? { address } : { address, name }
        // A name that a message cannot have is left out.
        return Result.isSuccess(Address.parse(Address.format(mailbox))) ? [mailbox] : [{ address }]
      },
    }),
  )
  if (usable.length > 0) return usable.slice(0, MAX_ADDRESSES)
  const returnPath = Address.parseHeld(envelope.from)
  return Result.isSuccess(returnPath) ? [{ address: returnPath.success }] : []
}

export const subjectOf = ({ subject }: Answered): string => {
  const text = (subject ?? "").replaceAll(/[\r\n\0]+/gu, " ").toWellFormed()
  return (ANSWERED.test(text) ? text : `Re: ${text}`).trim().slice(0, MAX_SUBJECT_CHARS).toWellFormed()
}

/** Returns the headers that join an answer to the conversation (RFC 5322 §3.6.4). */
export const headersOf = ({ message_id, references }: Answered): Readonly<Record<string, string>> => {
  if (message_id === null || !MESSAGE_ID.test(message_id)) return {}
  const kept: Array<string> = [message_id]
  let chars = message_id.length
  for (const reference of references.toReversed()) {
    chars += reference.length + 1
    if (chars > MAX_REFERENCES_CHARS) break
    if (MESSAGE_ID.test(reference) && !kept.includes(reference)) kept.unshift(reference)
  }
  return { "In-Reply-To": message_id, References: kept.join(" ") }
}
