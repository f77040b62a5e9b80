import type { EmailStatus } from "../api/Records.ts"

/** Filters of the email log, as stored in the URL. */
export interface EmailFilters {
  readonly status?: string
  readonly to?: string
  readonly from?: string
  readonly subject?: string
  readonly tag?: ReadonlyArray<string>
  readonly domain?: string
  readonly created_after?: string
  readonly created_before?: string
}

export const STATUSES: ReadonlyArray<EmailStatus> = [
  "queued",
  "sent",
  "delivered",
  "deferred",
  "bounced",
  "failed",
  "suppressed",
  "canceled",
  "complained",
]

const TEXT_FILTERS = ["status", "to", "from", "subject", "domain", "created_after", "created_before"] as const

/** Reads the filters from search parameters and ignores everything else. */
export const emailFiltersOf = (search: Record<string, unknown>): EmailFilters => {
  const filters: Record<string, string | ReadonlyArray<string>> = {}
  for (const name of TEXT_FILTERS) {
    const value = search[name]
    // The router parses a subject of digits as a number.
    if ((typeof value === "string" || typeof value === "number") && value !== "") filters[name] = String(value)
  }
  const tag = search["tag"]
  const tags = (Array.isArray(tag) ? tag : [tag]).filter(
    (each): each is string => typeof each === "string" && each !== "",
  )
  if (tags.length > 0) filters["tag"] = tags
  return filters
}

export const isFiltered = (search: EmailFilters): boolean => Object.keys(search).length > 0
