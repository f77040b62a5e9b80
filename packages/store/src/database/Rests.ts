import { Deferred, Effect } from "effect"

/**
 * Maximum number of transactions that are sent without a rest of the connection. The driver forgets what it has sent, with all
 * parameters, only when everything is answered. On a busy connection, where the next transaction is always sent before the
 * answer to the last, that would never be.
 */
export const MAX_SENT_WITHOUT_REST = 100

/** Lets a connection come to rest now and then. */
export interface Rests {
  /** Waits for the answers of all transactions if too many were sent without a rest. Only one caller may wait. */
  readonly takeIfDue: Effect.Effect<void>
  /** Notes that a transaction was sent. */
  readonly sent: () => void
  /** Notes that a transaction was answered. */
  readonly answered: () => void
}

export const make = (): Rests => {
  let [unanswered, sinceRest] = [0, 0]
  let rest: Deferred.Deferred<void> | undefined
  return {
    takeIfDue: Effect.suspend(() => {
      if (sinceRest < MAX_SENT_WITHOUT_REST || unanswered === 0) return Effect.void
      rest = Deferred.makeUnsafe<void>()
      return Deferred.await(rest)
    }),
    sent: () => {
      unanswered++
      sinceRest++
    },
    answered: () => {
      unanswered--
      if (unanswered > 0) return
      sinceRest = 0
      if (rest !== undefined) Deferred.doneUnsafe(rest, Effect.void)
      rest = undefined
    },
  }
}
