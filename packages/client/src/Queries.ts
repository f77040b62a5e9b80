import type * as T from "./types.ts"

/** Options of a call that changes something. */
export interface WriteOptions {
  /** Runs the call at most once, however often it is sent. Defaults to a random key. */
  readonly idempotencyKey?: string
  readonly signal?: AbortSignal
}

/** A type of the API whose times may also be given as `Date`. */
export type WithDates<A, K extends keyof A> = { readonly [P in keyof A]: P extends K ? A[P] | Date : A[P] }

export interface Page<A> {
  readonly object: "list"
  readonly has_more: boolean
  readonly next_cursor: string | null
  readonly data: readonly A[]
}

export interface LogsPage extends Page<T.EmailLog> {
  /** Number of emails that match, on all pages; `null` without `count`. */
  readonly total: T.EmailTotal | null
}

export interface LogsQuery {
  readonly limit?: number
  /** A search as it is typed in the dashboard, such as `to:ana is:bounced since:7d`. */
  readonly q?: string
  /** Whether the answer counts the emails that match, in `total`. */
  readonly count?: boolean
  /** `scheduled` is queued with `scheduled_at` in the future. */
  readonly status?: T.EmailStatus | "scheduled" | readonly (T.EmailStatus | "scheduled")[]
  /** Returns messages older than this one, newest first. Cannot be combined with `before`. */
  readonly after?: string | undefined
  /** Returns the next newer messages after this one. */
  readonly before?: string | undefined
  readonly to?: string
  /** Part of the address of a recipient, in any case. */
  readonly recipient?: string
  readonly from?: string
  readonly subject?: string
  readonly tag?: string | readonly string[]
  /** Pairs that messages have, all of them. */
  readonly metadata?: { readonly [name: string]: string }
  /** Id of the template that messages were made of. */
  readonly template?: string
  readonly domain?: string
  readonly created_after?: string | Date
  readonly created_before?: string | Date
}

export interface TemplatesQuery {
  readonly limit?: number
  readonly after?: string | undefined
  readonly kind?: T.TemplateKind
  /** Archived ones are listed only if they are asked for. */
  readonly status?: T.ListedTemplate["status"]
  /** Alias of a layout or partial that they use. */
  readonly uses?: string
  /** Part of the name or alias, in any case. */
  readonly q?: string
}

export interface RequestsQuery {
  readonly limit?: number
  readonly after?: string | undefined
  /** Statuses such as `404`, and classes such as `4xx`. */
  readonly status?: string | readonly string[]
  readonly method?: string
  /** A path, or how paths begin. */
  readonly path?: string
  readonly api_key_id?: string
  readonly request_id?: string
  readonly created_after?: string | Date
  readonly created_before?: string | Date
}

export type SuppressionsQuery = PageQuery & {
  /** Part of the address, in any case. */
  readonly q?: string
  readonly reason?: T.SuppressionReason
  readonly source?: T.SuppressionSource
  readonly created_after?: string | Date
  readonly created_before?: string | Date
}

export interface EventsQuery {
  readonly after_position?: string | undefined
  /** Starts with the first event at or after this time, in place of `after_position`. */
  readonly created_after?: string | Date
  /** Adds the body of the webhook call to each event. */
  readonly include?: "webhook_payload"
  readonly types?: readonly string[] | undefined
  readonly limit?: number
  /** How long to wait for an event if there is none, up to `20s`. */
  readonly wait?: string
}

export interface StatsQuery {
  /** A `Date` or ISO 8601. Defaults to the last 24 hours. */
  readonly from?: string | Date
  readonly to?: string | Date
  /** `hour` or `day`, `domain` or `tag`, or one of each. Without it, one row for the whole range. */
  readonly group_by?: readonly ("hour" | "day" | "domain" | "tag" | "template" | "api_key" | "provider")[]
  readonly domain?: string
  readonly tag?: string
}

export interface DomainReportsQuery {
  /** Days up to today that are counted; 30 by default. */
  readonly days?: number
  readonly limit?: number
  /** False shows the reports whose mail has no genuine signature of its sender. */
  readonly verified?: boolean
}

export interface SandboxQuery {
  readonly limit?: number
  readonly after?: string | undefined
  readonly to?: string
  /** How long to wait for a message if there is none, up to `60s`. */
  readonly wait?: string
}

export type PageQuery = { readonly limit?: number; readonly after?: string | undefined }

export type InboundQuery = PageQuery & {
  /** Returns the mails that came after this one. */
  readonly before?: string | undefined
  readonly to?: string
  readonly from?: string
  readonly subject?: string
  /** Part of the subject or of an address, in any case. */
  readonly q?: string
  readonly domain?: string
  readonly email_id?: string
  readonly thread_id?: string
  readonly status?: "received" | "dropped" | "rejected"
  readonly verdict?: "pass" | "fail" | "none"
  readonly created_after?: string | Date
  readonly created_before?: string | Date
}
