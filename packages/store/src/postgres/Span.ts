import { Effect, References } from "effect"

/** Taking a stack costs more than the rest of a span, and leads to the caller's file anyway. */
const WITHOUT_STACK = { captureStackTrace: false }

/** A span of what is done by the thousand: where nobody collects spans, it costs nothing. */
export const around = <A, E, R>(effect: Effect.Effect<A, E, R>, name: string): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) =>
    fiber.getRef(References.TracerEnabled)
      ? (Effect.withSpan(effect, name, WITHOUT_STACK) as Effect.Effect<A, E, R>)
      : effect,
  )
