import type * as Reply from "../reply/Reply.ts"
import type * as ReplyClass from "../reply/ReplyClass.ts"
import type * as SmtpCommands from "./SmtpCommands.ts"
import type { Timeouts } from "./SmtpTimeouts.ts"
import type { SmtpWire } from "./SmtpWire.ts"

export interface Session {
  readonly wire: SmtpWire
  readonly extensions: ReadonlyMap<string, string>
  readonly timeouts: Timeouts
  /** No more transactions may be sent here. */
  isClosed: boolean
  /** A transaction was left half-way: RSET before the next. */
  needsReset: boolean
}

/**
 * `Lost` with `ambiguous` is the one unknown case: the end of the data was written and no answer came. Any other loss
 * means that the message was not accepted.
 */
export type RecipientReply =
  | { readonly _tag: "Accepted"; readonly reply: Reply.Reply; readonly confirms: boolean }
  | { readonly _tag: "Refused"; readonly reply: Reply.Reply }
  | { readonly _tag: "Lost"; readonly stage: ReplyClass.Stage; readonly detail: string; readonly ambiguous: boolean }

/** Functions that a transaction calls. */
export interface Callbacks {
  /** Every recipient has an answer, in the order of the envelope; no error of the connection escapes. */
  readonly answered: (answers: ReadonlyArray<RecipientReply>) => void
  readonly died: (defect: unknown) => void
}

/** Domains are A-labels here, so only a local part can need RFC 6531. */
export const isUtf8 = (address: string): boolean => /[^\0-\x7f]/.test(address.slice(0, address.lastIndexOf("@")))

const LINE_BREAK = /[\r\n\0]/u

/** Returns the refusal that is known before any command is sent. */
export const unsupported = (
  { extensions }: Session,
  { body, from, to, utf8 }: SmtpCommands.Envelope,
): Reply.Reply | undefined => {
  if (LINE_BREAK.test(from) || to.some((address) => LINE_BREAK.test(address))) {
    return { code: 501, enhancedCode: "5.5.4", text: "an address of the envelope contains a line break", stage: "mail" }
  }
  if (utf8 && !extensions.has("SMTPUTF8")) {
    const text = "the server does not support SMTPUTF8, which this message needs"
    return { code: 550, enhancedCode: "5.6.7", text, stage: "ehlo" }
  }
  const limit = Number(extensions.get("SIZE") ?? 0)
  if (Number.isSafeInteger(limit) && limit > 0 && body.size > limit) {
    const text = `the message has ${body.size} bytes, the server accepts at most ${limit}: message too large`
    return { code: 552, enhancedCode: "5.3.4", text, stage: "ehlo" }
  }
  return undefined
}
