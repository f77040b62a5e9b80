import { Effect } from "effect"
import { FairQueue } from "./FairQueue.ts"

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

/** A rest is at most this long, also if this machine stood still meanwhile. */
const MAX_REST_MS = 100

const waiting = new FairQueue<() => void>({ perAccount: Infinity, inAll: Infinity })
/** When the shared time of this turn began; undefined if it has not. */
let began: number | undefined

const begin = (): void => {
  const start = performance.now()
  began = start
  setImmediate(() => {
    const took = performance.now() - start
    // A turn accepts one connection. After a long piece, other work has as much time, in as many turns as it takes.
    if (took > 2 * SHARED_MS) setTimeout(proceed, Math.min(took, MAX_REST_MS))
    else proceed()
  })
}

const proceed = (): void => {
  began = undefined
  if (waiting.isEmpty) return
  begin()
  while (hasTime()) {
    const first = waiting.take(() => true)
    if (first === undefined) break
    first()
  }
}

const hasTime = (): boolean => began !== undefined && performance.now() - began < SHARED_MS

/**
 * Continues at once if little time has passed in this turn since the first piece of work, else in later turns: accounts one
 * after another, the pieces of each in the order of arrival. What waits together stays together, and yet other work has its
 * turn after `SHARED_MS` and one piece.
 */
export const shared = (account: string): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (began === undefined) begin()
    if (waiting.isEmpty && hasTime()) return Effect.void
    return Effect.callback<void>((resume) => {
      const first = () => resume(Effect.void)
      waiting.add(account, first)
      return Effect.sync(() => waiting.remove(account, first))
    })
  })
