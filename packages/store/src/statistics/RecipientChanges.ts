import type * as EmailStatus from "@waybill/domain/email/EmailStatus"
import * as Recipient from "@waybill/domain/email/Recipient"

/** Types of events that change the status of recipients after acceptance. */
export const TYPES = [...Recipient.STATUS_TAGS, "EmailCanceled"] as const

/** Event of a message, in the order of its versions. */
export interface HistoryEvent {
  readonly version: number
  readonly type: string
  readonly recipient: string | null
  /** Number of recipients of the message; only in the event of its acceptance. */
  readonly recipients: number | null
}

export interface Change {
  readonly version: number
  readonly from: EmailStatus.Status
  readonly to: EmailStatus.Status
  readonly count: number
}

const isStatusTag = (type: string): type is (typeof Recipient.STATUS_TAGS)[number] =>
  (Recipient.STATUS_TAGS as ReadonlyArray<string>).includes(type)

/**
 * Returns how each event of a message changes the status of its recipients. All of them begin as queued. Folds the same
 * rules as the message itself, from the few fields that they need.
 */
export const of = (history: ReadonlyArray<HistoryEvent>): ReadonlyArray<Change> => {
  const statuses = new Map<string, EmailStatus.Status>()
  const total = history.find(({ recipients }) => recipients !== null)?.recipients ?? 0
  return history.flatMap(({ recipient, type, version }): ReadonlyArray<Change> => {
    if (type === "EmailCanceled") {
      const deferred = [...statuses].filter(([, status]) => Recipient.isUnfinished({ status }))
      const queued = total - statuses.size
      for (const [address] of deferred) statuses.set(address, "canceled")
      return [
        { version, from: "queued" as const, to: "canceled" as const, count: queued },
        { version, from: "deferred" as const, to: "canceled" as const, count: deferred.length },
      ].filter(({ count }) => count > 0)
    }
    if (recipient === null || !isStatusTag(type)) return []
    const from = statuses.get(recipient) ?? "queued"
    if (!Recipient.accepts({ status: from }, type)) return []
    const to = Recipient.statusAfter(type)
    statuses.set(recipient, to)
    return [{ version, from, to, count: 1 }]
  })
}
