import { repeatWork } from "@waybill/store/postgres/StoreUnavailable"
import * as Feed from "@waybill/store/feed/Feed"
import { Deferred, Duration, Effect, Exit, Latch } from "effect"
import { Sql } from "@waybill/store/postgres/Sql"

/** Interval at which the log is polled while readers wait: one query for all of a database, whichever node wrote. */
export const POLL_EVERY = Duration.millis(100)
/** Waiting readers of one account, so that one customer cannot use up the limit of all. */
export const MAX_WAITING_PER_ACCOUNT = 50
/** Accounts that one poll of the log names. If more have new events, all readers are woken. */
const MAX_ACCOUNTS_PER_POLL = 1_000
const ERROR_PAUSE = Duration.seconds(1)

export type Signal = Deferred.Deferred<void>

/** Waiting readers of the accounts of the fiber's database, whose log is polled only while there are some. */
export const make = Effect.gen(function* () {
  const sql = yield* Sql
  const readers = new Map<string, Set<Signal>>()
  const hasReaders = yield* Latch.make()

  const wakeAll = (accounts: Iterable<string>) => {
    for (const account of accounts) {
      for (const signal of readers.get(account) ?? []) Deferred.doneUnsafe(signal, Exit.void)
    }
  }

  const poll = Effect.fnUntraced(function* (lastEnd: bigint | undefined) {
    const upTo = yield* Feed.watermark(sql)
    // Events may have been committed while nothing was polled, so the first poll wakes all readers.
    if (lastEnd === undefined) wakeAll([...readers.keys()])
    else if (upTo > lastEnd) {
      const accounts = yield* Feed.accountsBetween(sql, lastEnd, upTo, MAX_ACCOUNTS_PER_POLL)
      wakeAll(
        accounts.length === MAX_ACCOUNTS_PER_POLL ? [...readers.keys()] : accounts.map(({ account_id }) => account_id),
      )
    }
    return upTo
  })

  const pollWhileWaiting = Effect.gen(function* () {
    yield* hasReaders.await
    let lastEnd: bigint | undefined
    while (readers.size > 0) {
      lastEnd = yield* poll(lastEnd)
      yield* Effect.sleep(POLL_EVERY)
    }
    hasReaders.closeUnsafe()
    return Duration.zero
  })
  const failed = "the event feed could not poll the log; readers wait longer for new events"
  yield* repeatWork(pollWhileWaiting, { failed, retryAfter: ERROR_PAUSE })
  yield* Effect.addFinalizer(() => Effect.sync(() => wakeAll([...readers.keys()])))

  return {
    /** Returns a signal for new events of the account, or `undefined` if too many readers of it wait. */
    subscribe: (account_id: string): Signal | undefined => {
      const signals = readers.get(account_id) ?? new Set()
      if (signals.size >= MAX_WAITING_PER_ACCOUNT) return undefined
      const signal = Deferred.makeUnsafe<void>()
      readers.set(account_id, signals.add(signal))
      hasReaders.openUnsafe()
      return signal
    },
    /** Returns whether the signal was subscribed. */
    unsubscribe: (account_id: string, signal: Signal): boolean => {
      const signals = readers.get(account_id)
      if (signals === undefined || !signals.delete(signal)) return false
      if (signals.size === 0) readers.delete(account_id)
      return true
    },
  }
})
