import type { AccountId } from "@waybill/domain/values/Id"
import type * as UnsentMail from "@waybill/domain/email/UnsentMail"

/** Change by a batch of the content that an account stores for unsent mail. */
export interface UnsentChange extends UnsentMail.Change {
  readonly account_id: AccountId
}

/** Changes of the content stored for unsent mail, summed up by account and month. */
export class UnsentChanges {
  readonly #changes = new Map<string, UnsentChange>()

  get all(): ReadonlyArray<UnsentChange> {
    return [...this.#changes.values()].filter(({ bytes, refunded }) => bytes !== 0 || refunded !== 0)
  }

  add(change: UnsentChange): void {
    const key = `${change.account_id} ${change.month}`
    this.#changes.set(key, { ...change, ...sum(change, this.#changes.get(key)) })
  }

  /** Returns what an account has in a month after these changes. */
  addedTo(read: UnsentMail.Unsent, account_id: string, month: string): UnsentMail.Unsent {
    return sum(read, this.#changes.get(`${account_id} ${month}`))
  }
}

const sum = (one: UnsentMail.Unsent, other: UnsentMail.Unsent | undefined): UnsentMail.Unsent => ({
  bytes: one.bytes + (other?.bytes ?? 0),
  refunded: one.refunded + (other?.refunded ?? 0),
})
