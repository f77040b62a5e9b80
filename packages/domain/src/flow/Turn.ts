import { Effect } from "effect"

/** Bytes whose parsing, encoding or hashing takes some milliseconds. */
const LARGE_BYTES = 1024 * 1024

/** Continues in a later turn of the event loop, so that other work has its turn in between. */
export const next: Effect.Effect<void> = Effect.callback<void>((resume) => {
  const immediate = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(immediate))
})

/** Continues in a later turn after work on many bytes. */
export const afterLarge = (bytes: number): Effect.Effect<void> => (bytes > LARGE_BYTES ? next : Effect.void)
