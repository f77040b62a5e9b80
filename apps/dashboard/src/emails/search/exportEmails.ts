import * as Api from "../../api/Api.ts"
import type { Email, Page } from "../../api/Records.ts"
import type { EmailFilters } from "./EmailFilters.ts"
import * as EmailFile from "./EmailFile.ts"
import type { Progress } from "../../ui/feedback/ExportProgress.tsx"
import * as EmailTotals from "./EmailTotals.ts"

/** Maximum number of emails in one file; the API's rate limit allows about 6,000 a minute. */
const MAX_EXPORTED = 10_000
const PAGE_SIZE = 100

/** Reads the emails of a filter, page by page, and writes them to a file. Waits when a rate limit is reached. */
export const exportEmails = async (
  filters: EmailFilters,
  keyName: (id: string) => string,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
) => {
  const parts = [EmailFile.HEAD]
  let emails = 0
  let after: string | undefined
  do {
    const query = { ...filters, limit: PAGE_SIZE, after }
    const page = await Api.patiently(
      () => Api.get<Page<Email>>("/email/logs", query, signal),
      signal,
      (waitSeconds) => onProgress({ done: emails, waitSeconds }),
    )
    const rows = page.data.slice(0, MAX_EXPORTED - emails)
    parts.push(rows.map((email) => EmailFile.rowOf(email, keyName)).join(""))
    emails += rows.length
    after = page.next_cursor ?? undefined
    onProgress({ done: emails, waitSeconds: 0 })
  } while (after !== undefined && emails < MAX_EXPORTED)
  const countOf = (count: number) => EmailTotals.text({ count, is_exact: true })
  const text =
    after === undefined
      ? `${countOf(emails)} exported.`
      : `The newest ${countOf(MAX_EXPORTED)} were exported. Narrow the search to export the others.`
  return { file: EmailFile.blobOf(parts), text }
}
