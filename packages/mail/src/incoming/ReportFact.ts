import type { Mail } from "../parsing/MimeReader.ts"
import * as Reply from "../reply/Reply.ts"

/** Facts taken from one report. */
export const RECIPIENTS_LIMIT = 200

/** One fact about one recipient. What a report does not say, or hides, is undefined. */
export interface Fact {
  readonly kind: "bounce" | "complaint" | "delayed" | "delivered"
  readonly recipient: string | undefined
  /** As we gave it to the first server, where a forward has changed it since. */
  readonly originalRecipient: string | undefined
  /** RFC 3464 §2.3.3, or the feedback type of RFC 5965 §3.1. */
  readonly action: string | undefined
  readonly status: string | undefined
  readonly diagnostic: string | undefined
  readonly reportingMta: string | undefined
  readonly remoteMta: string | undefined
  readonly originalMessageId: string | undefined
  readonly envelopeId: string | undefined
  /** Only of a bounce: its class, and what it does to the address. */
  readonly verdict: Reply.Verdict | undefined
}

/** What has been read out of the MIME, for the readers of each kind. */
export interface Parts {
  readonly mail: Mail
  readonly text: string
  /** The decoded text of the parts of these types. */
  readonly ofType: (pattern: RegExp) => ReadonlyArray<string>
}

/** The message that a report answers: no RFC asks for it, most servers thread their bounces so. */
export const answered = ({ mail }: Parts): string | undefined =>
  /<([^<>\s]{1,900})>/.exec(mail.inReplyTo ?? mail.references ?? "")?.[1]

/** A bounce is final even where its code was temporary: somebody has tried for days. Then only a full box counts. */
export const judge = (diagnostic: string | undefined, status: string | undefined): Reply.Verdict => {
  const reply = Reply.parse(diagnostic?.replace(/^\D{0,80}?(?=[45]\d\d[ -])/, "") ?? "", "end_of_data")
  const code = reply !== undefined && reply.code >= 400 ? reply.code : status?.startsWith("4") ? 450 : 550
  const verdict = Reply.classify({
    code,
    enhancedCode: reply?.enhancedCode ?? status,
    text: reply?.text ?? diagnostic ?? "",
    stage: "end_of_data",
  })
  const suppress = verdict.class === "mailbox_full" ? "after_repeats" : verdict.suppress
  return { ...verdict, action: "bounce", suppress, hint: undefined }
}
