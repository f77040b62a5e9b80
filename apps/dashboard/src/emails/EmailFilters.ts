import type { EmailStatus } from "../api/Records.ts"

/** Every filter of the log API, as it stands in the address. */
export interface EmailSearch {
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

const TEXTS = ["status", "to", "from", "subject", "domain", "created_after", "created_before"] as const

export const emailSearch = (search: Record<string, unknown>): EmailSearch => {
  const found: Record<string, string | ReadonlyArray<string>> = {}
  for (const name of TEXTS) {
    const value = search[name]
    // A subject of digits is read as a number.
    if ((typeof value === "string" || typeof value === "number") && value !== "") found[name] = String(value)
  }
  const tag = search["tag"]
  const tags = (Array.isArray(tag) ? tag : [tag]).filter(
    (each): each is string => typeof each === "string" && each !== "",
  )
  if (tags.length > 0) found["tag"] = tags
  return found
}

export const isFiltered = (search: EmailSearch): boolean => Object.keys(search).length > 0
