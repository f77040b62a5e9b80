import { Cause, Context, Effect } from "effect"

/** Whether the database of the fiber's cell cannot be used, which the watch of it logs once. Never without a watch. */
export const IsAway = Context.Reference<Effect.Effect<boolean>>("@waybill/store/postgres/IsAway", {
  defaultValue: () => Effect.succeed(false),
})

/**
 * Logs that work failed which will be done again, but not because the database is away: otherwise each loop of the process would
 * write its line, again and again. A bug is always logged.
 */
export const unlessAway = (line: Effect.Effect<void>, cause: Cause.Cause<unknown> = Cause.empty): Effect.Effect<void> =>
  Cause.hasDies(cause) ? line : Effect.flatMap(Effect.flatten(IsAway), (isAway) => (isAway ? Effect.void : line))
