import * as Api from "../../api/Api.ts"
import type { Email, Page } from "../../api/Records.ts"
import type { EmailFilters } from "./EmailFilters.ts"
import * as EmailFile from "./EmailFile.ts"

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

/** Reads the emails of a filter, page by page, and writes them to a file. Waits when a rate limit is reached. */
export const exportEmails = async (
  filters: EmailFilters,
  keyName: (id: string) => string,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
): Promise<Result> => {
  const parts = [EmailFile.HEAD]
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
    parts.push(rows.map((email) => EmailFile.rowOf(email, keyName)).join(""))
    emails += rows.length
    after = page.next_cursor ?? undefined
    onProgress({ emails, waitSeconds: 0 })
  } while (after !== undefined && emails < MAX_EXPORTED)
  return { file: EmailFile.blobOf(parts), emails, isCut: after !== undefined }
}
