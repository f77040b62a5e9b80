import * as DmarcReport from "./DmarcReport.ts"
import * as ReportFile from "./ReportFile.ts"
import * as ReportText from "./ReportText.ts"
import * as TlsReport from "./TlsReport.ts"
import * as DkimSignature from "../dkim/DkimSignature.ts"
import * as MimeReader from "../mime/MimeReader.ts"

/** Maximum size of a mail with an aggregate report. The whole mail is needed, since its signature covers all of it. */
export const MAX_MAIL_BYTES = 10 * 1024 * 1024
/** Maximum number of files of a mail that are tried. A report is alone in its mail. */
const MAX_FILES = 5

/** An aggregate report and the signatures of its mail, whose keys are not verified yet. */
export interface Aggregate {
  readonly report: DmarcReport.DmarcReport | TlsReport.TlsReport
  /** Domain of the From header. */
  readonly from: string
  readonly signatures: ReadonlyArray<DkimSignature.Signature>
}

export type AggregateProblem =
  | DmarcReport.DmarcProblem
  | TlsReport.TlsProblem
  | ReportFile.FileProblem
  | "mail_too_large"
  | "unreadable"
  | "no_sender"

/** Reads a mail with an aggregate report, of DMARC or of TLS, whatever the address that it came to. */
export const readAggregate = (bytes: Uint8Array): Aggregate | AggregateProblem => {
  if (bytes.length > MAX_MAIL_BYTES) return "mail_too_large"
  const mail = MimeReader.readIfSimple(bytes)
  if (mail === undefined) return "unreadable"
  // With two From fields it would depend on the reader who sent the mail.
  const senders = mail.headers.filter(({ key }) => key === "from").length
  const from = senders === 1 ? ReportText.domainOf(mail.from ?? "") : undefined
  if (from === undefined) return "no_sender"
  const report = reportIn(mail)
  return typeof report === "string" ? report : { report, from, signatures: DkimSignature.read(bytes) }
}

const reportIn = (mail: MimeReader.Mail): Aggregate["report"] | AggregateProblem => {
  const files = mail.files.map(fileOf).filter(ReportFile.isCandidate).slice(0, MAX_FILES)
  let problem: AggregateProblem = "not_a_report"
  for (const file of files) {
    const text = ReportFile.unpack(file)
    const report = ReportFile.isProblem(text) ? text : readText(text)
    if (typeof report !== "string") return report
    if (problem === "not_a_report") problem = report
  }
  return problem
}

const fileOf = ({ content, filename, mimeType }: MimeReader.File): ReportFile.NamedFile => ({
  name: filename ?? "",
  type: mimeType.toLowerCase(),
  bytes: Buffer.from(content.buffer, content.byteOffset, content.length),
})

const readText = (text: string): Aggregate["report"] | AggregateProblem =>
  /^\s*\{/u.test(text) ? TlsReport.read(text) : DmarcReport.read(text)
