import { textFromHtml } from "../HtmlText.ts"
import * as TrackedHtml from "../TrackedHtml.ts"
import { readMail } from "./readMail.ts"
import { readReport } from "./readReport.ts"
import { readSubmitted } from "./readSubmitted.ts"

/**
 * All that reads text from outside, by the name of its grammar. A function here sees nothing but its input: it runs on a
 * thread without settings, network or database, or on the event loop where `isSmall` says that its work is bounded.
 */
export const jobs = {
  submitted: readSubmitted,
  report: readReport,
  mail: readMail,
  text: textFromHtml,
  links: TrackedHtml.find,
} as const

export type Name = keyof typeof jobs
export type Input<N extends Name> = Parameters<(typeof jobs)[N]>[0]
export type Output<N extends Name> = Awaited<ReturnType<(typeof jobs)[N]>>
