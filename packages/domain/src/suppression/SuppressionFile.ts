// Without imports: the dashboard reads and writes files by the same code, and loads nothing else of this package.

export const REASONS = ["hard_bounce", "complaint", "manual", "unsubscribe"] as const
export type FileReason = (typeof REASONS)[number]

/** Addresses that one request of an import sends. */
export const LINES_PER_REQUEST = 1_000

/** Longest text that is sent as an address. */
const MAX_EMAIL_CHARS = 320

/** A line of a file that names an address. The service decides whether it is one. */
export interface Line {
  /** Number in the file, from 1. */
  readonly line: number
  readonly email: string
  readonly reason: FileReason
}

/** A line that was not imported, and why. */
export interface RejectedLine {
  readonly line: number
  readonly text: string
  readonly problem: string
}

export interface File {
  readonly lines: ReadonlyArray<Line>
  readonly rejected: ReadonlyArray<RejectedLine>
}

const HEADER = "email,reason,created_at"

/** Names of the column with the address in exports of other services. */
const EMAIL_COLUMNS = ["email", "email address", "email_address", "emailaddress", "address", "recipient"]

/**
 * Reads a file of addresses: one a line, with a reason after a comma if it is another than `manual`. A first line with the
 * names of columns says where both are; all other columns are ignored, so that an export can be imported. An address that
 * repeats is taken once, with its last reason.
 */
export const parse = (text: string): File => {
  const lines = new Map<string, Line>()
  const rejected: Array<RejectedLine> = []
  let columns = { email: 0, reason: 1 }
  let isFirst = true
  for (const [nth, row] of text
    .replace(/^\ufeff/u, "")
    .split(/\r\n|\n|\r/u)
    .entries()) {
    if (row.trim() === "") continue
    const cells = cellsOf(row)
    const named = isFirst ? columnsOf(cells) : undefined
    isFirst = false
    if (named !== undefined) {
      columns = named
      continue
    }
    const email = cells[columns.email] ?? ""
    const reason = cells[columns.reason] ?? ""
    const problem = problemOf(email, reason)
    if (problem === undefined)
      lines.set(email.toLowerCase(), { line: nth + 1, email, reason: (reason || "manual") as FileReason })
    else rejected.push({ line: nth + 1, text: row, problem })
  }
  return { lines: [...lines.values()], rejected }
}

const problemOf = (email: string, reason: string): string | undefined => {
  if (email === "") return "has no address"
  if (email.length > MAX_EMAIL_CHARS) return "is too long for an address"
  return reason === "" || REASONS.some((each) => each === reason)
    ? undefined
    : `"${reason}" is not a reason; use ${REASONS.join(", ")}`
}

/** Returns where the columns are, if this is the line with their names. */
const columnsOf = (cells: ReadonlyArray<string>) => {
  const names = cells.map((cell) => cell.toLowerCase())
  const email = names.findIndex((name) => EMAIL_COLUMNS.includes(name))
  // A line that names only the addresses has nothing to say about reasons.
  return email === -1 ? undefined : { email, reason: names.length === 1 ? 1 : names.indexOf("reason") }
}

/** RFC 4180 §2, of one line: cells between commas, in quotes where they contain a comma or a quote. */
const cellsOf = (row: string): ReadonlyArray<string> => {
  const cells: Array<string> = []
  let at = 0
  while (at <= row.length) {
    const isQuoted = row[at] === '"'
    const end = isQuoted ? endOfQuotes(row, at) : row.indexOf(",", at)
    const stop = end === -1 ? row.length : end
    const cell = row.slice(at, stop)
    const text = (isQuoted ? cell.replace(/^"|"\s*$/gu, "").replaceAll('""', '"') : cell).trim()
    cells.push(MARKED.test(text) ? text.slice(1) : text)
    at = stop + 1
  }
  return cells
}

/** Returns the place of the comma after a cell in quotes, or -1 if none follows. */
const endOfQuotes = (row: string, start: number): number => {
  let at = row.indexOf('"', start + 1)
  while (at !== -1 && row[at + 1] === '"') at = row.indexOf('"', at + 2)
  return at === -1 ? -1 : row.indexOf(",", at)
}

/** Writes suppressions as a file that `parse` reads. */
export const write = (
  rows: ReadonlyArray<{ readonly email: string; readonly reason: string; readonly created_at: string }>,
): string =>
  [HEADER, ...rows.map(({ created_at, email, reason }) => [email, reason, created_at].map(cell).join(",")), ""].join(
    "\n",
  )

/** Writes the lines that were not imported, to be corrected. */
export const writeRejected = (rejected: ReadonlyArray<RejectedLine>): string =>
  [
    "line,problem,text",
    ...rejected.map(({ line, problem, text }) => [String(line), problem, text].map(cell).join(",")),
    "",
  ].join("\n")

/** First characters for which a spreadsheet takes a cell for a formula, also behind apostrophes of our own. */
const FORMULA = /^'*[=+\-@\t\r\n]/u
/** A cell that `cell` wrote with an apostrophe. */
const MARKED = /^'+[=+\-@\t\r\n]/u

/** Writes a cell. A text that a spreadsheet would run as a formula begins with an apostrophe, which makes it text. */
export const cell = (value: string): string => {
  const text = FORMULA.test(value) ? `'${value}` : value
  return /[",\r\n]/u.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
