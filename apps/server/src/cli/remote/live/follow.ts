import type { Event, StreamQuery, Waybill } from "@waybill/client/Waybill"
import { Duration, Effect } from "effect"
import * as Output from "../../Output.ts"
import { type ApiFailure, attempt } from "../ApiClient.ts"

/** Pause before a stream that was lost is opened again. */
const PAUSE = Duration.seconds(1)

type Query = Omit<StreamQuery, "onPosition" | "signal">

/**
 * Calls a function for each event, in order and once, without end. When the connection is lost, it says so, and continues
 * after the last event that the function has finished.
 */
export const follow = Effect.fnUntraced(function* <E, R, R2>(
  client: Waybill,
  query: Query,
  onReady: Effect.Effect<void, never, R2>,
  onEvent: (event: Event) => Effect.Effect<void, E, R>,
) {
  const run = Effect.runForkWith(yield* Effect.context<R2>())
  let position = query.after_position
  let isReady = false
  let isLost = false

  const onPosition = (reached: string) => {
    position = reached
    if (isLost) run(Output.complain("waybill: connected again"))
    else if (!isReady) run(onReady)
    isReady = true
    isLost = false
  }

  const readToEnd = Effect.suspend(() => {
    const control = new AbortController()
    const stream = client.events.stream({
      ...query,
      ...(position === undefined ? {} : { after_position: position }),
      onPosition,
      signal: control.signal,
    })
    return Effect.gen(function* () {
      for (;;) {
        const { done, value } = yield* attempt(() => stream.next())
        if (done === true) return
        yield* onEvent(value)
      }
    }).pipe(Effect.ensuring(Effect.sync(() => control.abort())))
  })

  const handleLoss = (failure: ApiFailure) =>
    Effect.gen(function* () {
      if (!isTemporary(failure)) return yield* failure
      if (!isLost) yield* Output.complain(`waybill: ${failure.message}; trying again`)
      isLost = true
      yield* Effect.sleep(PAUSE)
    })

  return yield* Effect.forever(
    Effect.catchIf(readToEnd, (error): error is ApiFailure & E => isApiFailure(error), handleLoss),
  )
})

const isApiFailure = (error: unknown): error is ApiFailure =>
  typeof error === "object" && error !== null && "_tag" in error && error._tag === "ApiFailure"

const isTemporary = ({ error: { status } }: ApiFailure): boolean => status === 0 || status === 429 || status >= 500
