import { Effect, type Option } from "effect"

/** Returns what a query found, or fails with the refusal of an unknown object. */
export const found = <A, E, R, E2>(query: Effect.Effect<Option.Option<A>, E, R>, refusal: () => E2) =>
  Effect.flatMap(query, (row) => Effect.mapError(Effect.fromOption(row), refusal))
