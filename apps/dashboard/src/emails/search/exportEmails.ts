import * as Api from "../../api/Api.ts"
import type { Email, Page } from "../../api/Records.ts"
import { displayStatus, type EmailFilters, outcomesOf } from "../EmailFilters.ts"
import * as Csv from "./Csv.ts"

/** Maximum number of emails in one file; the API's rate limit allows about 6,000 a minute. */
export const MAX_EXPORTED = 10_000
const PAGE_SIZE = 100

export interface Progress {
  readonly emails: number
  /** Seconds until the rate limit allows the next page; 0 if it does now. */
  readonly waitSeconds: number
}

export interface Result {
  readonly file: Blob
  readonly emails: number
  /** Whether more emails match than one file takes. */
  readonly isCut: boolean
}

const COLUMNS = [
  "id",
  "message_id",
  "created_at",
  "status",
  "outcome",
  "from",
  "to",
  "cc",
  "bcc",
  "subject",
  "tags",
  "domain",
  "api_key",
  "scheduled_at",
  "delivered_at",
  "attempts",
  "opens",
  "clicks",
  "size_bytes",
  "error_recipient",
  "error_code",
  "error",
] as const

const rowOf = (email: Email, keyName: (id: string) => string) =>
  Csv.row([
    email.id,
    email.message_id,
    email.created_at,
    displayStatus(email, Date.now()),
    outcomesOf(email).join("; "),
    email.from,
    email.to.join("; "),
    email.cc.join("; "),
    email.bcc.join("; "),
    email.subject,
    email.tags.join("; "),
    email.domain,
    email.api_key_id === null ? null : keyName(email.api_key_id),
    email.scheduled_at,
    email.delivered_at,
    email.attempts,
    email.opens,
    email.clicks,
    email.size_bytes,
    email.error?.recipient ?? null,
    [email.error?.code, email.error?.enhanced_code].filter((each) => each !== null && each !== undefined).join(" "),
    email.error?.message ?? null,
  ])

const HEAD = Csv.BYTE_ORDER_MARK + Csv.row(COLUMNS)
const blobOf = (parts: ReadonlyArray<string>): Blob => new Blob([...parts], { type: "text/csv;charset=utf-8" })

/** Writes emails to a file. */
export const fileOf = (emails: ReadonlyArray<Email>, keyName: (id: string) => string): Blob =>
  blobOf([HEAD, ...emails.map((email) => rowOf(email, keyName))])

/** Reads the emails of a filter, page by page, and writes them to a file. Waits when a rate limit is reached. */
export const exportEmails = async (
  filters: EmailFilters,
  keyName: (id: string) => string,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
): Promise<Result> => {
  const parts = [HEAD]
  let emails = 0
  let after: string | undefined
  do {
    const query = { ...filters, limit: PAGE_SIZE, after }
    const page = await Api.patiently(
      () => Api.get<Page<Email>>("/email/logs", query, signal),
      signal,
      (waitSeconds) => onProgress({ emails, waitSeconds }),
    )
    const rows = page.data.slice(0, MAX_EXPORTED - emails)
    parts.push(rows.map((email) => rowOf(email, keyName)).join(""))
    emails += rows.length
    after = page.next_cursor ?? undefined
    onProgress({ emails, waitSeconds: 0 })
  } while (after !== undefined && emails < MAX_EXPORTED)
  return { file: blobOf(parts), emails, isCut: after !== undefined }
}
