import { IsAway } from "@waybill/store/postgres/StoreUnavailable"
import { Effect, Logger } from "effect"

/** Runs work while the watch of the database says that it is away, or not. Returns the lines that are logged. */
export const linesWhile = Effect.fnUntraced(function* <A, E, R>(isAway: boolean, work: Effect.Effect<A, E, R>) {
  const lines: Array<string> = []
  const logger = Logger.make(({ message }) => void lines.push(String(message)))
  yield* work.pipe(Effect.provideService(IsAway, Effect.succeed(isAway)), Effect.provide(Logger.layer([logger])))
  return lines
})
