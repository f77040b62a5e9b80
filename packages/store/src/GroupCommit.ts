import { Deferred, Effect, Exit, Option, Queue, Schedule, type Scope } from "effect"
import { type Attempt, attempt, type Entry, type Rules } from "./Flight.ts"
import type { Ledger, LedgerError } from "./Ledger.ts"
import { Provenance } from "./Provenance.ts"
import type { Committed, IdempotencyKeyReused, LeaseLost, Unit } from "./Unit.ts"

/** How many units travel together at most: enough to pay for the flush, few enough to keep one flight short. */
export const MAX_UNITS_IN_FLIGHT = 100
/** And how many bytes of content. */
export const MAX_BYTES_IN_FLIGHT = 256 * 1024
/** Units that wait beyond this make their callers wait to be let in. */
export const MAX_UNITS_WAITING = 10_000
export const MAX_TRIES = 8
const FIRST_PAUSE_MS = 5

export interface GroupCommit {
  readonly submit: <A, E>(
    unit: Unit<A, E>,
  ) => Effect.Effect<Committed<A>, E | IdempotencyKeyReused | LeaseLost>
}

export interface Options extends Rules {
  readonly ledger: Ledger
  /** Flights under way at once. One is fastest behind a slow disk: what waits travels in the next. */
  readonly flights?: number
}

/**
 * Commits that wait when a flight starts travel together in one transaction, each getting its own verdict. There is
 * no timer: an idle system adds no latency, and a busy one fills its flights while the one before is being flushed.
 */
export const make = Effect.fnUntraced(function* (
  options: Options,
): Effect.fn.Return<GroupCommit, never, Scope.Scope> {
  const queue = yield* Queue.bounded<Entry>(MAX_UNITS_WAITING)

  const takeFlight = (waiting: { left: Entry | undefined }) => Effect.gen(function* () {
    const first = waiting.left ?? (yield* Queue.take(queue))
    waiting.left = undefined
    const entries = [first]
    let bytes = first.unit.bytes ?? 0
    while (!fliesAlone(first) && entries.length < MAX_UNITS_IN_FLIGHT && bytes < MAX_BYTES_IN_FLIGHT) {
      const next = yield* Queue.poll(queue)
      if (Option.isNone(next)) break
      if (fliesAlone(next.value)) {
        waiting.left = next.value
        break
      }
      entries.push(next.value)
      bytes += next.value.unit.bytes ?? 0
    }
    return entries
  })

  const loop = Effect.suspend(() => {
    // Polled for a flight that it could not join, so it is first in the next.
    const waiting: { left: Entry | undefined } = { left: undefined }
    return takeFlight(waiting).pipe(
      Effect.flatMap((entries) => fly(options, entries)),
      Effect.catchCause((cause) => Effect.logError("a flight failed outside its own accounting", cause)),
      Effect.forever,
    )
  })
  yield* Effect.forEach(
    Array.from({ length: options.flights ?? 1 }),
    () => Effect.forkScoped(loop, { startImmediately: true }),
    { discard: true },
  )

  return {
    submit: <A, E>(unit: Unit<A, E>) =>
      Effect.gen(function* () {
        const done = Deferred.makeUnsafe<Committed<unknown>, unknown>()
        const entry: Entry = {
          unit: unit as Unit<unknown, unknown>,
          provenance: yield* Provenance,
          done,
        }
        yield* Queue.offer(queue, entry)
        return yield* Deferred.await(done) as Effect.Effect<Committed<A>, E | IdempotencyKeyReused | LeaseLost>
      }),
  }
})

/** Who is told of an account's events changes between flights, never inside one. */
const fliesAlone = ({ unit }: Entry): boolean => unit.streams.some(({ aggregate }) => aggregate.stream === "webhook")

const scopeOf = (entries: ReadonlyArray<Entry>) => ({
  accounts: [...new Set(entries.map(({ unit }) => unit.account_id))],
  alone: entries.some(fliesAlone),
})

/** Flies the entries, splitting and retrying until each has its verdict. */
const fly = (options: Options, entries: ReadonlyArray<Entry>, tries = 1): Effect.Effect<void> =>
  Effect.suspend(() => {
    let attempted: Attempt | undefined
    return options.ledger
      .transaction(scopeOf(entries), (page) =>
        Effect.map(attempt(options, page, entries), (done) => {
          attempted = done
          return done
        }),
      )
      .pipe(
        Effect.flatMap((done) => {
          announce(done)
          return done.postponed.length === 0 ? Effect.void : fly(options, done.postponed)
        }),
        Effect.catch((error) => recover(options, entries, tries, error, attempted)),
        Effect.catchDefect((defect) => give(entries, Exit.die(defect))),
      )
  })

const recover = (
  options: Options,
  entries: ReadonlyArray<Entry>,
  tries: number,
  error: LedgerError,
  attempted: Attempt | undefined,
): Effect.Effect<void> => {
  if (error._tag === "Poisoned" && entries.length > 1) {
    const middle = Math.ceil(entries.length / 2)
    return Effect.andThen(fly(options, entries.slice(0, middle)), fly(options, entries.slice(middle)))
  }
  if (error._tag === "Poisoned" || tries >= MAX_TRIES) return give(entries, Exit.die(error.cause))
  const again = Effect.andThen(
    Effect.sleep(error._tag === "TryAgain" && tries === 1 ? 0 : FIRST_PAUSE_MS * 2 ** tries),
    fly(options, entries, tries + 1),
  )
  const witness = attempted?.events[0]
  if (error._tag !== "OutcomeUnknown" || attempted === undefined || witness === undefined) return again
  // One event stands for all: a flight is one transaction.
  return options.ledger.landed(witness).pipe(
    Effect.retry({ times: MAX_TRIES, schedule: Schedule.exponential(FIRST_PAUSE_MS) }),
    Effect.flatMap((landed) => {
      if (!landed) return again
      announce(attempted)
      return attempted.postponed.length === 0 ? Effect.void : fly(options, attempted.postponed)
    }),
    Effect.catch((lost) => give(entries, Exit.die(lost.cause))),
  )
}

const announce = (done: Attempt): void => {
  for (const [entry, verdict] of done.verdicts) Deferred.doneUnsafe(entry.done, verdict)
}

const give = (entries: ReadonlyArray<Entry>, verdict: Exit.Exit<never>): Effect.Effect<void> =>
  Effect.sync(() => {
    for (const entry of entries) Deferred.doneUnsafe(entry.done, verdict)
  })
