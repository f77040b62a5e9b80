import * as ReplyCode from "@waybill/domain/search/ReplyCode"
import type { Recipient } from "@waybill/domain/email/Recipient"

/** No reply code. A message that is delivered at once has none, and the index leaves it out. */
const NONE = 0
/** Several: which ones is compared when the message is read. Few messages have more than one. */
export const SEVERAL = 1

/** Returns the code with which servers refused a message to recipients that it has not reached. */
export const of = (recipients: ReadonlyArray<Pick<Recipient, "smtp" | "status">>): number => {
  let found = NONE
  for (const recipient of recipients) {
    const code = ReplyCode.ofRecipient(recipient)
    if (code === undefined || code === found) continue
    if (found !== NONE) return SEVERAL
    found = code
  }
  return found
}

/** Selects the values of messages that have, or may have, one of the codes. */
export const within = (
  known: ReadonlyArray<number>,
  ranges: ReadonlyArray<ReplyCode.CodeRange>,
): ReadonlyArray<number> => known.filter((code) => code === SEVERAL || ReplyCode.isIn(code, ranges))
