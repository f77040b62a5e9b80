// The codes by which mail is searched. Without an import of a library, because browsers load it too.

/** Maximum number of codes and classes of codes in one search. */
export const MAX_CODES = 10

/** A code and class of codes that a server answers to mail that it does not take: 550, or 5xx. */
const CODE = /^[45](?:xx|[0-9]{2})$/u

/** Codes from the first to the last one. */
export interface CodeRange {
  readonly from: number
  readonly to: number
}

export const isCode = (text: string): boolean => CODE.test(text)

/** Reads `550` or `5xx`; statuses of HTTP are written so, too. */
export const rangeOf = (text: string): CodeRange => ({
  from: Number(text.replace("xx", "00")),
  to: Number(text.replace("xx", "99")),
})

export const isIn = (code: number, ranges: ReadonlyArray<CodeRange>): boolean =>
  ranges.some(({ from, to }) => from <= code && code <= to)

/** A recipient with the last reply of its server. */
interface Answered {
  readonly status: string
  readonly smtp: { readonly code: number | null } | null
}

const NOT_REACHED: ReadonlySet<string> = new Set(["bounced", "failed", "deferred"])
const REFUSALS: CodeRange = { from: 400, to: 599 }

/** Returns the code with which a server refused mail to a recipient; undefined if the mail arrived, or there was no reply. */
export const ofRecipient = ({ smtp, status }: Answered): number | undefined => {
  const code = smtp?.code ?? 0
  return REFUSALS.from <= code && code <= REFUSALS.to && NOT_REACHED.has(status) ? code : undefined
}

/** Whether a recipient of an email has one of the codes. */
export const haveRecipient = (recipients: ReadonlyArray<Answered>, ranges: ReadonlyArray<CodeRange>): boolean =>
  recipients.some((recipient) => isIn(ofRecipient(recipient) ?? 0, ranges))
