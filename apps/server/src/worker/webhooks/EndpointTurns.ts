import { Deferred, Duration, Effect, Exit, Option } from "effect"

/** Calls to one endpoint at once, as long as it answers. */
export const MAX_CALLS_PER_WEBHOOK = 20
/** And as long as it does not: enough to notice that it is back, too few to be in anybody's way. */
export const MIN_CALLS_PER_WEBHOOK = 2
/**
 * Calls that stand in line at an endpoint that answers: more than a process takes on for one account, so that a quick
 * one never finds its line full. At one that was silent lately there stand no more than may call.
 */
export const MAX_WAITING_PER_WEBHOOK = 700
/** Who stands in line for longer goes back to the outbox; if nobody was called meanwhile, so does everybody. */
export const PATIENCE = Duration.seconds(2)
/** Endpoints whose troubles are remembered; the oldest trouble is forgotten first. */
export const MAX_TROUBLED = 10_000

interface Endpoint {
  limit: number
  calls: number
  /** Calls that were let in from the line, ever. */
  admitted: number
  stuck: boolean
  readonly line: Set<Waiting>
}

interface Waiting {
  readonly turn: Deferred.Deferred<boolean>
  admitted: boolean
}

/** Who may call which endpoint now. One that hangs keeps its own calls waiting, and nobody else's. */
export interface EndpointTurns {
  /** Whether a call would have to go back at once. */
  readonly isStuck: (webhook_id: string) => boolean
  /**
   * Makes the call once it is its turn; none when the endpoint is too busy for now. Silence halves what an endpoint is
   * given, any answer gives one place back.
   */
  readonly take: <A, R>(
    webhook_id: string,
    call: Effect.Effect<A, never, R>,
    answered: (made: A) => boolean,
  ) => Effect.Effect<Option.Option<A>, never, R>
  /** Endpoints that have calls under way, or are remembered for their silence. */
  readonly size: () => number
}

export const make = (): EndpointTurns => {
  const endpoints = new Map<string, Endpoint>()

  const endpointOf = (webhook_id: string): Endpoint => {
    const known = endpoints.get(webhook_id)
    if (known !== undefined) return known
    const fresh: Endpoint = { limit: MAX_CALLS_PER_WEBHOOK, calls: 0, admitted: 0, stuck: false, line: new Set() }
    endpoints.set(webhook_id, fresh)
    return fresh
  }

  const isFull = ({ calls, limit }: Endpoint) => calls >= limit
  const room = ({ limit }: Endpoint) => (limit === MAX_CALLS_PER_WEBHOOK ? MAX_WAITING_PER_WEBHOOK : limit)
  const isClosed = (endpoint: Endpoint) => isFull(endpoint) && (endpoint.stuck || endpoint.line.size >= room(endpoint))

  const admit = (endpoint: Endpoint) => {
    for (const next of endpoint.line) {
      if (isFull(endpoint)) return
      endpoint.line.delete(next)
      endpoint.calls++
      endpoint.admitted++
      next.admitted = true
      Deferred.doneUnsafe(next.turn, Exit.succeed(true))
    }
  }

  const dismiss = (endpoint: Endpoint) => {
    endpoint.stuck = true
    const line = [...endpoint.line]
    endpoint.line.clear()
    for (const { turn } of line) Deferred.doneUnsafe(turn, Exit.succeed(false))
  }

  const forget = (webhook_id: string, { calls, limit, line }: Endpoint) => {
    if (calls > 0 || line.size > 0) return
    if (limit === MAX_CALLS_PER_WEBHOOK) endpoints.delete(webhook_id)
    if (endpoints.size <= MAX_TROUBLED) return
    for (const [id, other] of endpoints) {
      if (other.calls > 0 || other.line.size > 0) continue
      endpoints.delete(id)
      return
    }
  }

  const leave = (webhook_id: string, answered: boolean) => {
    const endpoint = endpointOf(webhook_id)
    endpoint.calls--
    endpoint.limit = answered
      ? Math.min(MAX_CALLS_PER_WEBHOOK, endpoint.limit + 1)
      : Math.max(MIN_CALLS_PER_WEBHOOK, Math.floor(endpoint.limit / 2))
    endpoint.stuck = isFull(endpoint) && endpoint.stuck && !answered
    admit(endpoint)
    forget(webhook_id, endpoint)
  }

  /** In line until it is called, or nobody was called in all that time. */
  const standInLine = Effect.fnUntraced(function* (endpoint: Endpoint, webhook_id: string, wait: Wait) {
    const waiting: Waiting = { turn: Deferred.makeUnsafe<boolean>(), admitted: false }
    const before = endpoint.admitted
    endpoint.line.add(waiting)
    const waited = yield* Effect.exit(wait(Effect.timeoutOption(Deferred.await(waiting.turn), PATIENCE)))
    const tooLong = endpoint.line.delete(waiting)
    if (Exit.isFailure(waited)) {
      if (waiting.admitted) leave(webhook_id, true)
      return yield* Effect.failCause(waited.cause)
    }
    if (tooLong && endpoint.admitted === before) dismiss(endpoint)
    return waiting.admitted
  })

  const enter = (webhook_id: string, wait: Wait): Effect.Effect<boolean> => {
    const endpoint = endpointOf(webhook_id)
    if (isClosed(endpoint)) return Effect.succeed(false)
    if (!isFull(endpoint)) {
      endpoint.calls++
      return Effect.succeed(true)
    }
    return standInLine(endpoint, webhook_id, wait)
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
    size: () => endpoints.size,
  }
}

type Wait = <A>(effect: Effect.Effect<A>) => Effect.Effect<A>
