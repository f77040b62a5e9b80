import { LinkedList } from "@waybill/runtime/collections/LinkedList"
import { LruCache } from "@waybill/runtime/collections/LruCache"
import { Deferred, Duration, Effect, Exit, Option } from "effect"

/** Maximum number of calls at once to an endpoint that answers. */
export const MAX_CALLS_PER_WEBHOOK = 20
/** Maximum number of calls at once to an endpoint that does not: enough to notice that it answers again. */
export const MIN_CALLS_PER_WEBHOOK = 2
/**
 * Maximum number of calls that wait for an endpoint that answers: more than a process claims for one account, so that the
 * queue of a fast endpoint is never full. For an endpoint that did not answer lately, only as many wait as may call.
 */
export const MAX_WAITING_PER_WEBHOOK = 700
/** Time after which a waiting call goes back to the outbox; if none was admitted meanwhile, all waiting calls do. */
export const MAX_WAIT = Duration.seconds(2)
/** Maximum number of endpoints whose lower limit is remembered while they have no calls. */
export const MAX_REMEMBERED = 10_000

interface Endpoint {
  limit: number
  calls: number
  /** Number of calls admitted from the queue so far. */
  admitted: number
  stuck: boolean
  readonly queue: LinkedList<Waiting>
}

interface Waiting {
  readonly turn: Deferred.Deferred<boolean>
  admitted: boolean
}

/** Limits the calls to each endpoint, so that an endpoint that hangs delays only its own calls. */
export interface EndpointTurns {
  /** Whether a call would go back to the outbox at once. */
  readonly isStuck: (webhook_id: string) => boolean
  /**
   * Makes the call when the endpoint has capacity, or returns none if it is too busy. A call without an answer halves the
   * endpoint's limit, and each answer raises it by one.
   */
  readonly take: <A, E, R>(
    webhook_id: string,
    call: Effect.Effect<A, E, R>,
    answered: (result: A) => boolean,
  ) => Effect.Effect<Option.Option<A>, E, R>
  /** Number of endpoints with calls in flight or a remembered limit. */
  readonly size: () => number
}

export const make = (): EndpointTurns => {
  /** Endpoints with calls in flight or waiting. */
  const endpoints = new Map<string, Endpoint>()
  /** Limits of idle endpoints that did not answer lately. */
  const limits = new LruCache<string, number>({ maxEntries: MAX_REMEMBERED })

  const endpointOf = (webhook_id: string): Endpoint => {
    const existing = endpoints.get(webhook_id)
    if (existing !== undefined) return existing
    const limit = limits.get(webhook_id) ?? MAX_CALLS_PER_WEBHOOK
    limits.delete(webhook_id)
    const endpoint: Endpoint = { limit, calls: 0, admitted: 0, stuck: false, queue: new LinkedList() }
    endpoints.set(webhook_id, endpoint)
    return endpoint
  }

  const isFull = ({ calls, limit }: Endpoint) => calls >= limit
  const maxWaiting = ({ limit }: Endpoint) => (limit === MAX_CALLS_PER_WEBHOOK ? MAX_WAITING_PER_WEBHOOK : limit)
  const isClosed = (endpoint: Endpoint) =>
    isFull(endpoint) && (endpoint.stuck || endpoint.queue.size >= maxWaiting(endpoint))

  const admit = (endpoint: Endpoint) => {
    while (!isFull(endpoint)) {
      const next = endpoint.queue.first
      if (next === undefined) return
      endpoint.queue.remove(next)
      endpoint.calls++
      endpoint.admitted++
      next.item.admitted = true
      Deferred.doneUnsafe(next.item.turn, Exit.succeed(true))
    }
  }

  const dismissQueue = (endpoint: Endpoint) => {
    endpoint.stuck = true
    const waiting = endpoint.queue.places
    for (const place of waiting) endpoint.queue.remove(place)
    for (const { item } of waiting) Deferred.doneUnsafe(item.turn, Exit.succeed(false))
  }

  const forgetIfIdle = (webhook_id: string, { calls, limit, queue }: Endpoint) => {
    if (calls > 0 || queue.size > 0) return
    endpoints.delete(webhook_id)
    if (limit < MAX_CALLS_PER_WEBHOOK) limits.set(webhook_id, limit)
  }

  const leave = (webhook_id: string, answered: boolean) => {
    const endpoint = endpointOf(webhook_id)
    endpoint.calls--
    endpoint.limit = answered
      ? Math.min(MAX_CALLS_PER_WEBHOOK, endpoint.limit + 1)
      : Math.max(MIN_CALLS_PER_WEBHOOK, Math.floor(endpoint.limit / 2))
    endpoint.stuck = isFull(endpoint) && endpoint.stuck && !answered
    admit(endpoint)
    forgetIfIdle(webhook_id, endpoint)
  }

  /** Waits until the call is admitted, or for `MAX_WAIT`. */
  const waitForTurn = Effect.fnUntraced(function* (endpoint: Endpoint, webhook_id: string, restore: Restore) {
    const waiting: Waiting = { turn: Deferred.makeUnsafe<boolean>(), admitted: false }
    const before = endpoint.admitted
    const place = endpoint.queue.add(waiting)
    const exit = yield* Effect.exit(restore(Effect.timeoutOption(Deferred.await(waiting.turn), MAX_WAIT)))
    const isStillQueued = endpoint.queue.remove(place)
    if (Exit.isFailure(exit)) {
      if (waiting.admitted) leave(webhook_id, true)
      return yield* Effect.failCause(exit.cause)
    }
    if (isStillQueued && endpoint.admitted === before) dismissQueue(endpoint)
    return waiting.admitted
  })

  const enter = (webhook_id: string, restore: Restore): Effect.Effect<boolean> => {
    const endpoint = endpointOf(webhook_id)
    if (isClosed(endpoint)) return Effect.succeed(false)
    if (!isFull(endpoint)) {
      endpoint.calls++
      return Effect.succeed(true)
    }
    return waitForTurn(endpoint, webhook_id, restore)
  }

  return {
    isStuck: (webhook_id) => {
      const endpoint = endpoints.get(webhook_id)
      return endpoint !== undefined && isClosed(endpoint)
    },
    take: (webhook_id, call, answered) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(
          Effect.suspend(() => enter(webhook_id, restore)),
          (admitted) =>
            admitted
              ? restore(call).pipe(
                  Effect.onExit((exit) =>
                    Effect.sync(() => leave(webhook_id, Exit.isFailure(exit) || answered(exit.value))),
                  ),
                  Effect.map(Option.some),
                )
              : Effect.succeedNone,
        ),
      ),
    size: () => endpoints.size + limits.size,
  }
}

type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
