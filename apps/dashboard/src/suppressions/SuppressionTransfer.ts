import * as SuppressionFile from "@waybill/domain/suppression/SuppressionFile"
import * as Api from "../api/Api.ts"
import type { SuppressionFilters } from "../api/Queries.ts"
import type { Page, Suppression, SuppressionBatchAnswer } from "../api/Records.ts"
import type { Progress } from "../ui/feedback/ExportProgress.tsx"

export const addressCount = (n: number): string => `${n.toLocaleString("en")} ${n === 1 ? "address" : "addresses"}`

export interface Imported {
  readonly added: number
  readonly unchanged: number
  readonly rejected: ReadonlyArray<SuppressionFile.RejectedLine>
}

/** Suppresses the addresses of a file, a thousand in a request. Lines that cannot be imported are reported. */
export const read = async (
  text: string,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
): Promise<Imported> => {
  const { lines, rejected: unread } = SuppressionFile.parse(text)
  const rejected = [...unread]
  let added = 0
  let unchanged = 0
  for (let done = 0; done < lines.length; done += SuppressionFile.LINES_PER_REQUEST) {
    const report = (waitSeconds: number) => onProgress({ done, of: lines.length, waitSeconds })
    report(0)
    const chunk = lines.slice(done, done + SuppressionFile.LINES_PER_REQUEST)
    const add = chunk.map(({ email, reason }) => ({ email, reason }))
    const answer = await Api.patiently(
      () => Api.post<SuppressionBatchAnswer>("/suppressions/batch", { add }),
      signal,
      report,
    )
    added += answer.added
    unchanged += answer.unchanged
    for (const { email, index, message, status } of answer.data)
      if (status === "rejected")
        rejected.push({ line: chunk[index]?.line ?? 0, text: email, problem: message ?? "is not an address" })
  }
  return { added, unchanged, rejected: rejected.sort((a, b) => a.line - b.line) }
}

/** Reads the suppressions of a filter, page by page, and writes them to a file. */
export const write = async (
  filters: SuppressionFilters,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
) => {
  const rows: Array<Suppression> = []
  let after: string | undefined
  do {
    const query = { ...filters, limit: SuppressionFile.LINES_PER_REQUEST, after }
    const page = await Api.patiently(
      () => Api.get<Page<Suppression>>("/suppressions", query, signal),
      signal,
      (waitSeconds) => onProgress({ done: rows.length, waitSeconds }),
    )
    rows.push(...page.data)
    after = page.next_cursor ?? undefined
    onProgress({ done: rows.length, waitSeconds: 0 })
  } while (after !== undefined)
  return { file: csv(SuppressionFile.write(rows)), text: `${addressCount(rows.length)} exported.` }
}

export const csv = (text: string): Blob => new Blob([text], { type: "text/csv;charset=utf-8" })
