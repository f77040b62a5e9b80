import type { Email, EmailStatus } from "../api/Records.ts"

/** Filters of the email log, as stored in the URL. */
export interface EmailFilters {
  readonly status?: string
  /** Statuses of any recipient. */
  readonly recipient_status?: string
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

/** Statuses of emails to filter by: an email that is queued for later is "scheduled". */
export const EMAIL_STATUSES: ReadonlyArray<EmailStatus | "scheduled"> = ["scheduled", ...STATUSES]

const TEXT_FILTERS = [
  "status",
  "recipient_status",
  "to",
  "from",
  "subject",
  "domain",
  "created_after",
  "created_before",
] as const

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

/** The status to show: an email that is queued for later is "scheduled". */
export const displayStatus = ({ scheduled_at, status }: Email, now: number): string =>
  status === "queued" && scheduled_at !== null && Date.parse(scheduled_at) > now ? "scheduled" : status

const statusesOf = (filter: string | undefined): ReadonlyArray<string> | undefined =>
  filter?.split(",").map((status) => status.trim())

/** Whether an email that changed still has the statuses of the filter. Its other fields never change. */
export const hasStatus = (email: Email, { recipient_status, status }: EmailFilters, now: number): boolean => {
  const own = statusesOf(status)
  const recipients = statusesOf(recipient_status)
  return (
    (own === undefined || own.includes(email.status) || own.includes(displayStatus(email, now))) &&
    (recipients === undefined || email.recipients.some((recipient) => recipients.includes(recipient.status)))
  )
}

export const isFiltered = (search: EmailFilters): boolean => Object.keys(search).length > 0
