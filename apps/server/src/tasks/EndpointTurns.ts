import { Deferred, Duration, Effect, Exit, Option } from "effect"

/** Calls to one endpoint at once, as long as it answers. */
export const MAX_CALLS_PER_WEBHOOK = 20
/** And as long as it does not: enough to notice that it is back, too few to be in anybody's way. */
export const MIN_CALLS_PER_WEBHOOK = 2
/** Calls that stand in line at one endpoint; a quick one takes them on within milliseconds. */
export const MAX_WAITING_PER_WEBHOOK = 100
/** Who stands in line for longer goes back to the outbox, and so does everybody behind it. */
export const PATIENCE = Duration.seconds(1)
/** Endpoints whose troubles are remembered; the oldest trouble is forgotten first. */
export const MAX_TROUBLED = 10_000

interface Endpoint {
  limit: number
  calls: number
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
  /** True once it is the call's turn, which `leave` ends; false when the endpoint is too busy for now. */
  readonly enter: (webhook_id: string) => Effect.Effect<boolean>
  /** Silence halves what an endpoint is given, any answer gives one back. */
  readonly leave: (webhook_id: string, answered: boolean) => void
  /** Endpoints that have calls under way, or are remembered for their silence. */
  readonly size: () => number
}

export const make = (): EndpointTurns => {
  const endpoints = new Map<string, Endpoint>()

  const endpointOf = (webhook_id: string): Endpoint => {
    const known = endpoints.get(webhook_id)
    if (known !== undefined) return known
    const fresh: Endpoint = { limit: MAX_CALLS_PER_WEBHOOK, calls: 0, stuck: false, line: new Set() }
    endpoints.set(webhook_id, fresh)
    return fresh
  }

  const isFull = ({ calls, limit }: Endpoint) => calls >= limit

  const admit = (endpoint: Endpoint) => {
    for (const next of endpoint.line) {
      if (isFull(endpoint)) return
      endpoint.line.delete(next)
      endpoint.calls++
      next.admitted = true
      Deferred.doneUnsafe(next.turn, Exit.succeed(true))
    }
  }

  const dismiss = (endpoint: Endpoint) => {
    endpoint.stuck = true
    for (const { turn } of endpoint.line) Deferred.doneUnsafe(turn, Exit.succeed(false))
    endpoint.line.clear()
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

  const standInLine = Effect.fnUntraced(function* (endpoint: Endpoint, webhook_id: string) {
    const waiting: Waiting = { turn: Deferred.makeUnsafe<boolean>(), admitted: false }
    endpoint.line.add(waiting)
    yield* Deferred.await(waiting.turn).pipe(
      Effect.timeoutOption(PATIENCE),
      Effect.onInterrupt(() =>
        Effect.sync(() => {
          endpoint.line.delete(waiting)
          if (waiting.admitted) leave(webhook_id, true)
        }),
      ),
    )
    // Still in line: nobody was called in all that time.
    if (endpoint.line.delete(waiting)) dismiss(endpoint)
    return waiting.admitted
  })

  return {
    isStuck: (webhook_id) => {
      const endpoint = endpoints.get(webhook_id)
      return endpoint !== undefined && isFull(endpoint) && (endpoint.stuck || endpoint.line.size >= MAX_WAITING_PER_WEBHOOK)
    },
    enter: (webhook_id) =>
      Effect.suspend(() => {
        const endpoint = endpointOf(webhook_id)
        if (!isFull(endpoint)) {
          endpoint.calls++
          return Effect.succeed(true)
        }
        if (endpoint.stuck || endpoint.line.size >= MAX_WAITING_PER_WEBHOOK) return Effect.succeed(false)
        return standInLine(endpoint, webhook_id)
      }),
    leave,
    size: () => endpoints.size,
  }
}
