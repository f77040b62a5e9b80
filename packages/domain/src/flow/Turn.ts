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

/** Time that short pieces of work share in one turn of the event loop. */
const SHARED_MS = 10

const waiting = new Set<() => void>()
/** When the shared time of this turn began; undefined if it has not. */
let began: number | undefined

const begin = (): void => {
  began = performance.now()
  setImmediate(() => {
    began = undefined
    if (waiting.size > 0) begin()
    for (const first of waiting) {
      if (!hasTime()) break
      waiting.delete(first)
      first()
    }
  })
}

const hasTime = (): boolean => began !== undefined && performance.now() - began < SHARED_MS

/**
 * Continues at once if little time has passed in this turn since the first piece of work, else in the order of arrival in
 * later turns. What waits together stays together, and yet other work has its turn after `SHARED_MS` and one piece.
 */
export const shared: Effect.Effect<void> = Effect.suspend(() => {
  if (began === undefined) begin()
  if (waiting.size === 0 && hasTime()) return Effect.void
  return Effect.callback<void>((resume) => {
    const proceed = () => resume(Effect.void)
    waiting.add(proceed)
    return Effect.sync(() => void waiting.delete(proceed))
  })
})
