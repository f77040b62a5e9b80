import { textFromHtml } from "../compose/HtmlText.ts"
import * as TrackedHtml from "../compose/TrackedHtml.ts"
import { readReport } from "./readReport.ts"
import { readSubmitted } from "./readSubmitted.ts"
import { showMail } from "./showMail.ts"

/**
 * All that reads text from outside, by the name of its grammar. A function here sees nothing but its input: it runs on a
 * thread without settings, network or database, or on the event loop where `isSmall` says that its work is bounded.
 */
export const jobs = {
  submitted: readSubmitted,
  report: readReport,
  mail: showMail,
  text: textFromHtml,
  links: TrackedHtml.find,
} as const

export type Name = keyof typeof jobs
export type Input<N extends Name> = Parameters<(typeof jobs)[N]>[0]
export type Output<N extends Name> = Awaited<ReturnType<(typeof jobs)[N]>>

/** The bytes of a document; undefined where it is text. */
export const bytesOf = (input: Input<Name>): Uint8Array | undefined => {
  if (typeof input === "string") return undefined
  if (input instanceof Uint8Array) return input
  return "bytes" in input ? input.bytes : undefined
}

/** The text of a document; undefined where it is bytes. */
export const textOf = (input: Input<Name>): string | undefined => {
  if (typeof input === "string") return input
  return "html" in input ? input.html : undefined
}
