import { textFromHtml } from "../compose/textFromHtml.ts"
import * as TrackedHtml from "../compose/TrackedHtml.ts"
import { bodyHash } from "../dkim/bodyHash.ts"
import { digest } from "../inbound/digest.ts"
import { readArrival } from "../inbound/readArrival.ts"
import { postmarkBody } from "../inbound/postmarkBody.ts"
import { readFile } from "../inbound/readFile.ts"
import * as Sender from "../inbound/Sender.ts"
import { sendGridForm } from "../inbound/sendGridForm.ts"
import { showInbound } from "../inbound/showInbound.ts"
import { readAggregate } from "../aggregate/readAggregate.ts"
import { readFeedback } from "../report/readFeedback.ts"
import { readReport } from "../report/readReport.ts"
import { readSubmitted } from "../report/readSubmitted.ts"
import { showMail } from "./showMail.ts"

/**
 * Readers of untrusted text, by grammar. A reader sees only its input: it runs on a thread without settings, network or
 * database, or on the event loop where `isSmall` bounds its work.
 */
export const jobs = {
  submitted: readSubmitted,
  report: readReport,
  feedback: readFeedback,
  aggregate: readAggregate,
  mail: showMail,
  digest,
  arrival: readArrival,
  ahead: Sender.ahead,
  questions: Sender.questions,
  sender: Sender.judge,
  inbound: showInbound,
  inbound_postmark: postmarkBody,
  inbound_sendgrid: sendGridForm,
  file: readFile,
  body_hash: bodyHash,
  text: textFromHtml,
  links: TrackedHtml.find,
} as const

export type Name = keyof typeof jobs
export type Input<N extends Name> = Parameters<(typeof jobs)[N]>[0]
export type Output<N extends Name> = Awaited<ReturnType<(typeof jobs)[N]>>

/** Returns the bytes of a document; undefined when it is text. */
export const bytesOf = (input: Input<Name>): Uint8Array | undefined => {
  if (typeof input === "string") return undefined
  if (input instanceof Uint8Array) return input
  return "bytes" in input ? input.bytes : undefined
}

/** Returns the text of a document; undefined when it is bytes. */
export const textOf = (input: Input<Name>): string | undefined => {
  if (typeof input === "string") return input
  return "html" in input ? input.html : undefined
}
