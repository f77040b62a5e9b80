import * as ReportFact from "./ReportFact.ts"
import * as ReportBounce from "./ReportBounce.ts"
import * as Fields from "./ReportFields.ts"

/** Maximum lines of prose searched, and characters of each, so that no text makes the search slow. */
const LINES_LIMIT = 500
const LINE_LENGTH_LIMIT = 500
/** Maximum lines kept of the text about one address. */
const WORDS_LINES_LIMIT = 10

/** Patterns of servers without RFC 3464: after this line, addresses of this form are the recipients. */
interface Prose {
  readonly after: RegExp
  readonly recipient: RegExp
}

const ADDRESS = "([^\\s<>:;,()@]{1,64}@[^\\s<>:;,()@]{1,255})"

const PROSE: ReadonlyArray<Prose> = [
  // Exim, whose text may name the sender in the same form, but before
  { after: /address(?:\(?es\)?)? (?:failed|to which.{0,60} is):?$/, recipient: new RegExp(`^ {1,6}<?${ADDRESS}>?`) },
  // qmail, and Yahoo after it
  {
    after: /qmail-send program|^Sorry, we were unable to deliver your message/,
    recipient: new RegExp(`^<${ADDRESS}>:`),
  },
  // Google before 2015
  {
    after: /^Delivery to the following recipients? (?:has )?(?:been )?failed permanently/,
    recipient: new RegExp(`^ {2,}${ADDRESS}$`),
  },
  // Exchange 2003 and related servers
  {
    after: /following recipient\(s\) (?:cannot|could not) be reached/,
    recipient: new RegExp(`^\\s+'?<?${ADDRESS}>?'?(?: on .*)?$`),
  },
  // sendmail's transcript, and servers that copied it
  { after: /- The following addresses had .{0,40}errors -/, recipient: new RegExp(`^<?${ADDRESS}>?$`) },
  // any text with the server's answer behind the address
  {
    after:
      /undeliver|(?:could not|not|cannot) be delivered|deliver\w* (?:has )?failed|returned to (?:its |the )?sender/i,
    recipient: new RegExp(`<${ADDRESS}>.{0,200}\\b[45]\\d\\d[ -]`),
  },
]

const RETURNED =
  /^(?:-{2,} ?(?:below this line|this is a copy|original message|the body of)|Original message headers:|Return-Path: <|Received: )/i
const ANSWER = /^\s*[45]\d\d[ -]/
const DELAYED =
  /\bdelayed\b|warning: (?:message|could not send)|not yet been delivered|will (?:continue to )?(?:be )?retr/i

/** Exim names the recipients in a header even where its administrator has changed the text. */
export const read = (parts: ReportFact.Parts): ReadonlyArray<ReportFact.ReportFact> => {
  const lines = parts.text.split(/\r?\n/, LINES_LIMIT).map((line) => line.slice(0, LINE_LENGTH_LIMIT).trimEnd())
  const cut = lines.findIndex((line) => RETURNED.test(line))
  const text = cut === -1 ? lines : lines.slice(0, cut)
  const original = cut === -1 ? new Map<string, ReadonlyArray<string>>() : Fields.block(lines.slice(cut).join("\n"))
  const delayed = DELAYED.test(parts.mail.subject ?? "") || text.some((line) => DELAYED.test(line))
  const answers = prose(text)
  const failed =
    header(parts, "x-failed-recipients")
      ?.split(",", ReportFact.RECIPIENTS_LIMIT)
      .map((value) => Fields.address(value)) ?? []
  for (const address of failed) if (address !== undefined && !answers.has(address)) answers.set(address, undefined)
  const originalMessageId =
    Fields.messageId(original) ?? Fields.messageId(ReportBounce.returned(parts)) ?? ReportFact.answered(parts)
  return [...answers].map(([recipient, textAfter]) => {
    const diagnostic = Fields.diagnostic(textAfter)
    const status = Fields.status(diagnostic)
    return {
      kind: delayed ? "delayed" : "bounce",
      recipient,
      originalRecipient: undefined,
      action: undefined,
      status,
      diagnostic,
      reportingMta: undefined,
      remoteMta: /\bhost ([\w-]{1,63}(?:\.[\w-]{1,63}){1,10})/i.exec(textAfter ?? "")?.[1],
      originalMessageId,
      envelopeId: undefined,
      verdict: delayed ? undefined : ReportFact.judge(quoted(diagnostic), status),
    }
  })
}

const prose = (lines: ReadonlyArray<string>): Map<string, string | undefined> => {
  const answers = new Map<string, string | undefined>()
  for (const form of PROSE) {
    const start = lines.findIndex((line) => form.after.test(line))
    if (start === -1) continue
    for (let at = start; at < lines.length; at++) {
      const address = form.recipient.exec(lines[at] ?? "")?.[1]
      if (address !== undefined && !answers.has(address))
        answers.set(address, textAfter(lines, at, address, form.recipient))
    }
    if (answers.size > 0) break
  }
  // Some servers quote the one answer far below the address.
  const answer = lines.find((line) => ANSWER.test(line))
  for (const [address, about] of answers) if (about === undefined) answers.set(address, answer?.trim())
  return answers
}

/** Returns the text after the address, on its line and those below, up to an empty line or the next address. */
const textAfter = (
  lines: ReadonlyArray<string>,
  at: number,
  address: string,
  recipient: RegExp,
): string | undefined => {
  const line = lines[at] ?? ""
  const pieces = [
    line
      .slice(line.indexOf(address) + address.length)
      .replace(/^[\s>:']+/, "")
      .replace(/^on \d.*$/, ""),
  ]
  for (const next of lines.slice(at + 1, at + 1 + WORDS_LINES_LIMIT)) {
    if (next.trim() === "" || recipient.test(next)) break
    pieces.push(next.trim())
  }
  const text = pieces.join(" ").trim()
  return text === "" ? undefined : text
}

/** Returns the other server's answer, when prose quotes one. */
const quoted = (diagnostic: string | undefined): string | undefined =>
  /(?:^|\D)([45]\d\d[ -].*)$/.exec(diagnostic ?? "")?.[1] ?? diagnostic

const header = (parts: ReportFact.Parts, name: string): string | undefined =>
  parts.mail.headers.find(({ key }) => key === name)?.value
