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
