import * as SteadyClock from "@waybill/domain/values/SteadyClock"
import { PgClient } from "@effect/sql-pg"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as Epoch from "@waybill/store/postgres/Epoch"
import * as Feed from "@waybill/store/feed/Feed"
import type { FeedPage, FeedQuery } from "@waybill/store/commit/LogStorage"
import { Context, Data, Deferred, Duration, Effect, Exit, Latch, Layer, Option, Stream } from "effect"

/** How often the log is looked at while somebody waits: one look for all of them, whatever node wrote. */
export const LOOK_EVERY = Duration.millis(100)
/** Readers that wait in one process. Who comes beyond is answered at once with what there is. */
export const MAX_WAITING = 2_000
/** And those of one account, so that no customer takes the places of the others. */
export const MAX_WAITING_PER_ACCOUNT = 50
/** Streams of one account in one process. */
export const MAX_STREAMS_PER_ACCOUNT = 20
/** Then a stream ends, to be taken up again: by a key that is still good, on a node that is still there. */
export const MAX_STREAM = Duration.minutes(5)
/** A long poll waits this long at most: shorter than what proxies usually cut off. */
export const MAX_WAIT = Duration.seconds(20)
/** Accounts that one look names. If more have news, everybody looks for themselves. */
const MAX_NAMED = 1_000
/** Events that one step of a stream reads. */
const STREAM_PAGE = 100
const TROUBLE_PAUSE = Duration.seconds(1)

export interface Query extends FeedQuery {
  readonly account_id: string
}

/** The log of an account, for those who want to hear of what comes next. Never skips, never repeats. */
export class EventFeed extends Context.Service<
  EventFeed,
  {
    /** The next page; when it would be empty, waits for up to `wait` until there is something. */
    readonly next: (query: Query, wait: Duration.Duration) => Effect.Effect<FeedPage>
    /** All that comes after a position, as it comes; an empty page where nothing came for a while. Ends by itself. */
    readonly stream: (query: Omit<Query, "limit">) => Stream.Stream<FeedPage, TooManyStreams>
    /** Refuses an account that has as many streams open as it may. */
    readonly checkRoom: (account_id: string) => Effect.Effect<void, TooManyStreams>
    /** Refuses a place that the log has never reached. */
    readonly checkPlace: (after: bigint) => Effect.Effect<void, PositionAhead>
    /** Where the log ends now. */
    readonly end: Effect.Effect<bigint>
    readonly waiting: () => number
  }
>()("@waybill/server/EventFeed") {
  static readonly layer = Layer.effect(
    EventFeed,
    Effect.suspend(() => make),
  )
}

export class TooManyStreams extends Data.TaggedError("TooManyStreams")<{}> {
  readonly status = 422
  readonly code = "unprocessable"
  readonly reason = "too_many_streams"
  override get message() {
    return `An account may have ${MAX_STREAMS_PER_ACCOUNT} streams open at once. Close one first.`
  }
}

/**
 * Who goes on from a place that the log has never reached would miss all that comes to stand below it: it is of another
 * log, or of this one before it was set back to an earlier moment.
 */
export class PositionAhead extends Data.TaggedError("PositionAhead")<{}> {
  readonly status = 422
  readonly code = "unprocessable"
  readonly reason = "position_ahead"
  override get message() {
    return "The log was never at this position; perhaps it was restored to an earlier moment. Go on from a position that was given since then, or from 0."
  }
}

const make = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const store = yield* EventStore
  const rooms = new Map<string, Set<Deferred.Deferred<void>>>()
  const streams = new Map<string, number>()
  const somebody = yield* Latch.make()
  let waiting = 0
  let closing = false

  const wakeAll = (accounts: Iterable<string>) => {
    for (const account of accounts) {
      for (const bell of rooms.get(account) ?? []) Deferred.doneUnsafe(bell, Exit.void)
    }
  }

  const look = Effect.fnUntraced(function* (seen: bigint | undefined) {
    const upTo = yield* Effect.orDie(Feed.settled(sql))
    // Who came while nobody looked may have missed anything: the first look wakes everybody.
    if (seen === undefined) wakeAll([...rooms.keys()])
    else if (upTo > seen) {
      const named = yield* Effect.orDie(Feed.accountsBetween(sql, seen, upTo, MAX_NAMED))
      wakeAll(named.length === MAX_NAMED ? [...rooms.keys()] : named.map(({ account_id }) => account_id))
    }
    return upTo
  })

  const watch = Effect.gen(function* () {
    yield* somebody.await
    let seen: bigint | undefined
    while (waiting > 0) {
      seen = yield* look(seen)
      yield* Effect.sleep(LOOK_EVERY)
    }
    somebody.closeUnsafe()
  })
  yield* watch.pipe(
    Effect.catchCause((cause) =>
      Effect.andThen(Effect.logWarning("the log could not be looked at", cause), Effect.sleep(TROUBLE_PAUSE)),
    ),
    Effect.forever,
    Effect.forkScoped,
  )

  /** A bell that rings when the account may have news. Taken before the log is read, so that nothing falls between. */
  const listen = (account_id: string): Deferred.Deferred<void> | undefined => {
    const room = rooms.get(account_id) ?? new Set()
    if (waiting >= MAX_WAITING || room.size >= MAX_WAITING_PER_ACCOUNT) return undefined
    const bell = Deferred.makeUnsafe<void>()
    rooms.set(account_id, room.add(bell))
    waiting++
    somebody.openUnsafe()
    return bell
  }

  const leave = (account_id: string, bell: Deferred.Deferred<void> | undefined) => {
    const room = rooms.get(account_id)
    if (bell === undefined || room === undefined || !room.delete(bell)) return
    waiting--
    if (room.size === 0) rooms.delete(account_id)
  }

  /** The page, and where it is empty the same again once the bell has rung, until the time is over. */
  const next = (query: Query, wait: Duration.Duration): Effect.Effect<FeedPage> =>
    Effect.flatMap(SteadyClock.millis, (began) => {
      const end = began + Math.min(Duration.toMillis(wait), Duration.toMillis(MAX_WAIT))
      const step = (after: bigint): Effect.Effect<FeedPage> =>
        Effect.acquireUseRelease(
          Effect.sync(() => listen(query.account_id)),
          (bell) =>
            Effect.gen(function* () {
              const page = yield* store.feed({ ...query, after })
              const left = end - (yield* SteadyClock.millis)
              if (page.events.length > 0 || bell === undefined || left <= 0 || closing) return { page, over: true }
              yield* Effect.timeoutOption(Deferred.await(bell), Duration.millis(left))
              return { page, over: false }
            }),
          (bell) => Effect.sync(() => leave(query.account_id, bell)),
        ).pipe(
          // What an empty page has passed over need not be passed over again.
          Effect.flatMap(({ over, page }) => (over ? Effect.succeed(page) : step(page.upTo))),
        )
      return step(query.after)
    })

  const checkRoom = (account_id: string) =>
    Effect.suspend(() =>
      (streams.get(account_id) ?? 0) < MAX_STREAMS_PER_ACCOUNT ? Effect.void : Effect.fail(new TooManyStreams()),
    )
  const end = Effect.orDie(Feed.settled(sql))
  const checkPlace = (after: bigint) =>
    Effect.gen(function* () {
      if (after > 0n && (yield* Effect.orDie(Epoch.isAhead(sql, after)))) yield* new PositionAhead()
    })
  const enter = (account_id: string) =>
    Effect.map(checkRoom(account_id), () => void streams.set(account_id, (streams.get(account_id) ?? 0) + 1))
  const exit = (account_id: string) =>
    Effect.sync(() => {
      const open = (streams.get(account_id) ?? 1) - 1
      if (open === 0) streams.delete(account_id)
      else streams.set(account_id, open)
    })

  const stream = (query: Omit<Query, "limit">): Stream.Stream<FeedPage, TooManyStreams> =>
    Stream.unwrap(
      Effect.gen(function* () {
        yield* Effect.acquireRelease(enter(query.account_id), () => exit(query.account_id))
        const end = (yield* SteadyClock.millis) + Duration.toMillis(MAX_STREAM)
        return Stream.paginate(query.after, (after) =>
          Effect.gen(function* () {
            const page = yield* next({ ...query, after, limit: STREAM_PAGE }, MAX_WAIT)
            const over = closing || (yield* SteadyClock.millis) >= end
            return [[page], over ? Option.none<bigint>() : Option.some(page.upTo)] as const
          }),
        )
      }),
    )

  // Who waits is sent home, or a stop would wait for them.
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      closing = true
      wakeAll([...rooms.keys()])
    }),
  )

  return EventFeed.of({ next, stream, checkRoom, checkPlace, end, waiting: () => waiting })
})
