import * as MonotonicClock from "@waybill/runtime/flow/MonotonicClock"
import * as Refusal from "@waybill/domain/values/Refusal"
import * as PerDatabase from "@waybill/store/routing/PerDatabase"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as Epoch from "@waybill/store/postgres/Epoch"
import * as Feed from "@waybill/store/feed/Feed"
import * as PageBytes from "@waybill/store/feed/PageBytes"
import type { FeedPage, FeedQuery } from "@waybill/store/feed/Feed"
import { Context, Deferred, Duration, Effect, Exit, Layer, Option, Scope, Stream } from "effect"
import { Sql } from "@waybill/store/postgres/Sql"
import type { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import * as FeedReaders from "./FeedReaders.ts"

/** Readers that may wait in one process. Further ones get the present page at once, even if it is empty. */
export const MAX_WAITING = 2_000
/** Open event streams of one account in one process. */
export const MAX_STREAMS_PER_ACCOUNT = 20
/**
 * Maximum duration of an event stream. The client then reconnects, which checks its key again and may reach another
 * node.
 */
export const MAX_STREAM = Duration.minutes(5)
/** Maximum wait of a long poll, shorter than the usual idle timeout of proxies. */
export const MAX_WAIT = Duration.seconds(20)
/** Events read in one step of a stream. */
const STREAM_PAGE = 100
/** Bytes of stored events in one step of a stream: what a stream holds whose client does not read is a few times as much. */
export const STREAM_PAGE_BYTES = 128 * 1024

/** A query of an account's events. */
export interface Query extends FeedQuery {
  readonly account_id: string
}

/** Reads and follows the event log of an account, in order, without gaps or repetitions. */
export class EventFeed extends Context.Service<
  EventFeed,
  {
    /** Returns the next page of events. Waits for up to `wait` while it would be empty. */
    readonly next: (query: Query, wait: Duration.Duration) => Effect.Effect<FeedPage, StoreUnavailable>
    /**
     * Opens a stream of all events after a position as they are committed, with an empty page after an idle period. It ends
     * after `MAX_STREAM`, and is open until the scope closes, whether it is read or not. Fails for an account that has
     * reached its limit of open streams.
     */
    readonly stream: (
      query: Omit<Query, "limit">,
    ) => Effect.Effect<Stream.Stream<FeedPage, StoreUnavailable>, TooManyStreams, Scope.Scope>
    /** Fails for a position beyond the end of the log. */
    readonly checkPosition: (after: bigint) => Effect.Effect<void, PositionAhead | StoreUnavailable>
    /** Position of the present end of the log. */
    readonly end: Effect.Effect<bigint, StoreUnavailable>
    readonly waiting: () => number
    /** Ends streams and waits, with what they have. A stop of the server begins with it, because it waits for all responses. */
    readonly close: Effect.Effect<void>
    /** Waits for `close`. */
    readonly closed: Effect.Effect<void>
  }
>()("@waybill/server/live/EventFeed") {
  static readonly layer = Layer.effect(
    EventFeed,
    Effect.suspend(() => make),
  )
}

export class TooManyStreams extends Refusal.of("TooManyStreams", 422, "too_many_streams") {
  override readonly message = `An account can have at most ${MAX_STREAMS_PER_ACCOUNT} open streams. Close one first.`
}

/**
 * A position beyond the end of the log belongs to another log, or to this one before it was restored to an earlier
 * moment. Continuing from it would skip events.
 */
export class PositionAhead extends Refusal.of("PositionAhead", 422, "position_ahead") {
  override readonly message =
    "The log has not reached this position; it may have been restored to an earlier moment. Continue from a position returned since then, or from 0."
}

const make = Effect.gen(function* () {
  const sql = yield* Sql
  const store = yield* EventStore
  // Readers are woken when it closes.
  const scope = yield* Scope.fork(yield* Effect.scope)
  const readers = yield* Scope.provide(PerDatabase.make(FeedReaders.make), scope)
  const streams = new Map<string, number>()
  let waiting = 0
  let closing = false
  const closed = yield* Deferred.make<void>()

  /**
   * Returns a signal for new events of the account, or `undefined` at a limit. Call it before reading the log, so that
   * no event is missed in between.
   */
  const subscribe = (account_id: string) =>
    readers.of(account_id).pipe(
      Effect.map((own) => {
        const signal = waiting < MAX_WAITING ? own.subscribe(account_id) : undefined
        if (signal !== undefined) waiting++
        return { own, signal }
      }),
    )

  const unsubscribe = (account_id: string, { own, signal }: Effect.Success<ReturnType<typeof subscribe>>) => {
    if (signal !== undefined && own.unsubscribe(account_id, signal)) waiting--
  }

  /** Reads a page, and while it is empty again after each signal, until the wait is over. */
  const next = (query: Query, wait: Duration.Duration): Effect.Effect<FeedPage, StoreUnavailable> =>
    Effect.flatMap(MonotonicClock.millis, (began) => {
      const bounded: Query = { max_bytes: PageBytes.MAX_PAGE_BYTES, ...query }
      const end = began + Math.min(Duration.toMillis(wait), Duration.toMillis(MAX_WAIT))
      const step = (after: bigint): Effect.Effect<FeedPage, StoreUnavailable> =>
        Effect.acquireUseRelease(
          subscribe(query.account_id),
          ({ signal }) =>
            Effect.gen(function* () {
              const page = yield* store.feed({ ...bounded, after })
              const left = end - (yield* MonotonicClock.millis)
              // Readers that are woken at the end, or came too late for it, return what they have.
              if (page.events.length > 0 || signal === undefined || left <= 0 || closing) return { page, isLast: true }
              yield* Effect.timeoutOption(Deferred.await(signal), Duration.millis(left))
              return { page, isLast: false }
            }),
          (subscribed) => Effect.sync(() => unsubscribe(query.account_id, subscribed)),
        ).pipe(
          // Positions that the empty page has scanned are not scanned again.
          Effect.flatMap(({ isLast, page }) => (isLast ? Effect.succeed(page) : step(page.upTo))),
        )
      return step(query.after)
    })

  const end = Feed.watermark(sql)
  const checkPosition = (after: bigint) =>
    Effect.gen(function* () {
      if (after > 0n && (yield* Epoch.isAhead(sql, after))) yield* new PositionAhead()
    })
  /** Checks and takes in one step: of streams that are requested together, no more are opened. */
  const openStream = (account_id: string) =>
    Effect.suspend(() => {
      const open = streams.get(account_id) ?? 0
      if (open >= MAX_STREAMS_PER_ACCOUNT) return Effect.fail(new TooManyStreams())
      streams.set(account_id, open + 1)
      return Effect.void
    })
  const closeStream = (account_id: string) =>
    Effect.sync(() => {
      const open = (streams.get(account_id) ?? 1) - 1
      if (open === 0) streams.delete(account_id)
      else streams.set(account_id, open)
    })

  const stream = Effect.fnUntraced(function* (query: Omit<Query, "limit">) {
    yield* Effect.acquireRelease(openStream(query.account_id), () => closeStream(query.account_id))
    const end = (yield* MonotonicClock.millis) + Duration.toMillis(MAX_STREAM)
    const bounds = { limit: STREAM_PAGE, max_bytes: STREAM_PAGE_BYTES }
    return Stream.paginate(query.after, (after) =>
      Effect.gen(function* () {
        const page = yield* next({ ...query, ...bounds, after }, MAX_WAIT)
        const isLast = closing || (yield* MonotonicClock.millis) >= end
        return [[page], isLast ? Option.none<bigint>() : Option.some(page.upTo)] as const
      }),
    )
  })

  const close = Effect.suspend(() => {
    closing = true
    return Effect.andThen(Deferred.succeed(closed, undefined), Scope.close(scope, Exit.void))
  })
  yield* Effect.addFinalizer(() => close)

  return EventFeed.of({
    next,
    stream,
    checkPosition,
    end,
    waiting: () => waiting,
    close,
    closed: Deferred.await(closed),
  })
})
