import type { AccountId } from "@waybill/domain/values/Id"

/** Kinds of work in the outbox, as in its CHECK constraint. */
export const KINDS = ["delivery", "webhook", "domain_check", "test_clock"] as const

/** `available_at` of a row that waits for its test clock: no worker on real time ever comes to it. */
export const FAR_FUTURE = "9999-12-31T00:00:00.000Z"

export interface OutboxRow {
  readonly id: string
  readonly account_id: AccountId
  readonly kind: (typeof KINDS)[number]
  readonly stream_id: string
  readonly available_at: string
  readonly attempt: number
  readonly payload: Readonly<Record<string, unknown>>
  /** The test clock that the row lives on, and its time on that clock. Absent or null on real time. */
  readonly clock?: string | null
  readonly clock_due?: string | null
}

/** A row and the lease under which it is held. */
export interface LeaseRef {
  readonly id: string
  readonly token: string
}

export interface Leased extends OutboxRow, LeaseRef {}

export interface LeaseFact {
  readonly id: string
  readonly lease_token: string | null
  readonly lease_until: string | null
  readonly attempt: number
}
