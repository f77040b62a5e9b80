import { Effect, References } from "effect"

/** A stack trace costs more than the rest of a span and only shows the caller's file. */
const WITHOUT_STACK = { captureStackTrace: false }

/** Wraps frequent work in a span; without a tracer it costs nothing. */
export const around = <A, E, R>(effect: Effect.Effect<A, E, R>, name: string): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) =>
    fiber.getRef(References.TracerEnabled)
      ? (Effect.withSpan(effect, name, WITHOUT_STACK) as Effect.Effect<A, E, R>)
      : effect,
  )
