import type { Mail } from "../mime/MimeReader.ts"
import * as Reply from "../reply/Reply.ts"

/** Maximum number of facts read from one report. */
export const RECIPIENTS_LIMIT = 200

/** One fact about one recipient. Fields that a report omits or hides are undefined. */
export interface ReportFact {
  readonly kind: "bounce" | "complaint" | "delayed" | "delivered"
  readonly recipient: string | undefined
  /** Address as we gave it to the first server, when a forward has changed it since. */
  readonly originalRecipient: string | undefined
  /** RFC 3464 §2.3.3, or the feedback type of RFC 5965 §3.1. */
  readonly action: string | undefined
  readonly status: string | undefined
  readonly diagnostic: string | undefined
  readonly reportingMta: string | undefined
  readonly remoteMta: string | undefined
  readonly originalMessageId: string | undefined
  readonly envelopeId: string | undefined
  /** For a bounce: its class, and what it does to the address. */
  readonly verdict: Reply.Verdict | undefined
}

/** Parsed MIME parts that the readers of each kind use. */
export interface Parts {
  readonly mail: Mail
  readonly text: string
  /** Returns the decoded text of the parts of these types. */
  readonly ofType: (pattern: RegExp) => ReadonlyArray<string>
}

/** Returns the Message-ID that a report answers. No RFC requires it; most servers thread their bounces so. */
export const answered = ({ mail }: Parts): string | undefined =>
  /<([^<>\s]{1,900})>/.exec(mail.inReplyTo ?? mail.references ?? "")?.[1]

/**
 * A bounce is final even if its code was temporary, since some server has tried for days. Only a full mailbox then
 * counts as such.
 */
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
