import * as SteadyClock from "@waybill/domain/values/SteadyClock"
import { Cause, Clock, Deferred, Effect, Exit, Fiber, Option, Queue, type Scope } from "effect"
import { type Attempt, attempt, type Entry, type Rules } from "./CommitBatch.ts"
import type { Folded } from "../streams/StreamState.ts"
import { type Ledger, type LedgerError, refKey } from "./LogStorage.ts"
import * as LongStreams from "../streams/LongStreams.ts"
import * as Measures from "../statistics/Measures.ts"
import { Provenance } from "./Provenance.ts"
import type { Stored } from "./RecordedEvents.ts"
import type { Committed, IdempotencyKeyReused, LeaseLost, Unit } from "./Commit.ts"

/** How many units travel together at most: enough to pay for the flush, few enough to keep one flight short. */
export const MAX_UNITS_IN_FLIGHT = 100
/**
 * So many travel together at once. Of more only half does, for the other half to be received, decided about and answered
 * meanwhile: all in one flight, database and process would wait for each other in turns.
 */
export const UNITS_NEVER_PARTED = 32
/** And how many bytes of content. */
export const MAX_BYTES_IN_FLIGHT = 256 * 1024
/** Units that wait beyond this make their callers wait to be let in. */
export const MAX_UNITS_WAITING = 10_000
/** Long streams that are read at a time, beside the flights: who waits for one waits for others that wait for such. */
export const READS_AT_ONCE = 2
/** Conflicts and deadlocks pass; who meets so many in a row is told. */
export const MAX_TRIES = 8
/**
 * A database that restarts or fails over is waited for so long, counted for each caller from its own beginning. Longer
 * than `IDLE_IN_TRANSACTION_TIMEOUT`, after which Postgres itself ends a transaction whose client is gone.
 */
export const PATIENCE_MS = 15_000
const FIRST_PAUSE_MS = 5
const MAX_PAUSE_MS = 250

export interface GroupCommit {
  readonly submit: <A, E>(unit: Unit<A, E>) => Effect.Effect<Committed<A>, E | IdempotencyKeyReused | LeaseLost>
}

export interface Options extends Rules {
  readonly ledger: Ledger
}

interface Flying extends Options {
  /** Told when all is written and has only to be flushed. */
  readonly written: Effect.Effect<unknown>
  /** For whom a long stream is to be read. */
  readonly aside: Queue.Queue<Aside>
}

type Aside = Attempt["aside"][number]

/**
 * Commits that wait when a flight starts travel together in one transaction, each getting its own verdict. There is
 * no timer: an idle system adds no latency, and a busy one fills its flights while the one before is being written. One is
 * written at a time: two side by side would wait for each other's rows.
 */
export const make = Effect.fnUntraced(function* (options: Options): Effect.fn.Return<GroupCommit, never, Scope.Scope> {
  const queue = yield* Queue.bounded<Entry>(MAX_UNITS_WAITING)
  // As many as there are callers, each of whom was let in.
  const aside = yield* Queue.unbounded<Aside>()
  // Runs when the flights under way have landed: who has not left by then is told.
  yield* Effect.addFinalizer(() =>
    Effect.gen(function* () {
      yield* give(
        (yield* Queue.clear(aside)).map(({ entry }) => entry),
        closed,
      )
      // Whoever is told makes room for somebody who waited to be let in.
      while (Queue.sizeUnsafe(queue) > 0) yield* give(yield* Queue.clear(queue), closed)
      yield* Queue.shutdown(queue)
    }),
  )
  for (let nth = 0; nth < READS_AT_ONCE; nth++) yield* Effect.forkScoped(reading(options, aside, queue))
  yield* Effect.forkScoped(loop({ ...options, aside }, queue), { startImmediately: true })

  return {
    submit: <A, E>(unit: Unit<A, E>) =>
      Effect.withFiber<Committed<A>, E | IdempotencyKeyReused | LeaseLost>((fiber) =>
        Effect.callback((resume) => {
          const entry: Entry = {
            unit: unit as Unit<unknown, unknown>,
            provenance: fiber.getRef(Provenance),
            since: SteadyClock.millisOf(fiber.getRef(Clock.Clock)),
            done: (verdict) => resume(verdict as Exit.Exit<Committed<A>, E>),
          }
          if (!Queue.offerUnsafe(queue, entry)) resume(letIn(queue, entry) as Effect.Effect<Committed<A>, E>)
        }),
      ),
  }
})

const closed = Exit.die(new Error("the event store is closed"))

/** Too many wait, so who comes now waits to be among them; or nobody is let in any more. */
const letIn = Effect.fnUntraced(function* (queue: Queue.Queue<Entry>, entry: Entry) {
  const done = Deferred.makeUnsafe<Committed<unknown>, unknown>()
  const isIn = yield* Queue.offer(queue, { ...entry, done: (verdict) => Deferred.doneUnsafe(done, verdict) })
  return yield* isIn ? Deferred.await(done) : closed
})

/**
 * While a flight is being flushed the next one asks its questions behind it. Not sooner, though the line would take them:
 * who leaves early leaves with few.
 *
 * A flight under way is not interrupted by the end of the service; only its pauses are.
 */
const loop = (options: Omit<Flying, "written">, queue: Queue.Queue<Entry>): Effect.Effect<never> =>
  Effect.suspend(() => {
    // Polled for a flight that it could not join, so it is first in the next.
    const waiting: { left: Entry | undefined } = { left: undefined }
    let before: Fiber.Fiber<void> | undefined
    let flying = 0
    return Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const first = waiting.left ?? (yield* restore(Queue.take(queue)))
        const entries = companions(queue, first, waiting, flying)
        flying += entries.length
        const written = Deferred.makeUnsafe<void>()
        const flight = yield* Effect.forkChild(
          fly({ ...options, written: Deferred.succeed(written, undefined) }, entries).pipe(
            Effect.onInterrupt(() => give(entries, closed)),
            Effect.catchCause((cause) =>
              Cause.hasInterruptsOnly(cause)
                ? Effect.failCause(cause)
                : // Who has its verdict hears no other one.
                  Effect.andThen(
                    Effect.logError("a flight failed outside its own accounting", cause),
                    give(entries, Exit.failCause(cause)),
                  ),
            ),
            Effect.ensuring(
              Effect.suspend(() => {
                flying -= entries.length
                return Deferred.succeed(written, undefined)
              }),
            ),
          ),
          { startImmediately: true, uninterruptible: true },
        )
        yield* restore(Deferred.await(written))
        if (before !== undefined) yield* restore(Fiber.await(before))
        before = flight
      }),
    ).pipe(
      Effect.forever,
      Effect.ensuring(Effect.suspend(() => give(waiting.left === undefined ? [] : [waiting.left], closed))),
    )
  })

/**
 * Reads what a flight must not wait for, and sends who waits for it to fly again. Whatever goes wrong here, they do: the
 * flight meets it as well, and knows what is to be done.
 */
const reading = (options: Options, aside: Queue.Queue<Aside>, queue: Queue.Queue<Entry>): Effect.Effect<never> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const { entry, streams } = yield* restore(Queue.take(aside))
      const known = new Map<string, Folded>()
      const read = Effect.forEach(streams, (each) =>
        Effect.map(LongStreams.read(options, options.ledger.streams, each), (folded) =>
          known.set(refKey(each), folded),
        ),
      )
      yield* restore(Effect.ignoreCause(read)).pipe(
        Effect.andThen(restore(Queue.offer(queue, { ...entry, known, aside: (entry.aside ?? 0) + 1 }))),
        Effect.onInterrupt(() => give([entry], closed)),
      )
    }),
  ).pipe(Effect.forever)

/** All that wait, as far as they may fly together. */
const companions = (
  queue: Queue.Queue<Entry>,
  first: Entry,
  waiting: { left: Entry | undefined },
  flying: number,
): ReadonlyArray<Entry> => {
  waiting.left = undefined
  const entries = [first]
  const half = Math.ceil((1 + Queue.sizeUnsafe(queue) + flying) / 2)
  const seats = Math.min(Math.max(half, UNITS_NEVER_PARTED), MAX_UNITS_IN_FLIGHT)
  let bytes = first.unit.bytes ?? 0
  while (!fliesAlone(first) && entries.length < seats && bytes < MAX_BYTES_IN_FLIGHT) {
    const next = Queue.takeUnsafe(queue)
    if (next === undefined || Exit.isFailure(next)) break
    if (fliesAlone(next.value)) {
      waiting.left = next.value
      break
    }
    entries.push(next.value)
    bytes += next.value.unit.bytes ?? 0
  }
  return entries
}

/** Who is told of an account's events changes between flights, never inside one. And what is counted does not grow meanwhile. */
const fliesAlone = ({ unit }: Entry): boolean =>
  unit.needs?.tally !== undefined || unit.streams.some(({ aggregate }) => aggregate.stream === "webhook")

const scopeOf = (entries: ReadonlyArray<Entry>) => ({
  accounts: [...new Set(entries.map(({ unit }) => unit.account_id))],
  alone: entries.some(fliesAlone),
})

/** Flies the entries, splitting and retrying until each has its verdict. */
const fly = (options: Flying, entries: ReadonlyArray<Entry>, tries = 1): Effect.Effect<void> =>
  Effect.suspend(() => {
    let attempted: Attempt | undefined
    return options.ledger
      .transaction(
        scopeOf(entries),
        (page) =>
          Effect.map(attempt(options, page, entries), (done) => {
            attempted = done
            return done
          }),
        options.written,
      )
      .pipe(
        // What came of the transaction says what is to be done, and no fault in doing that makes it be decided again.
        Effect.map((done) => land(options, done)),
        Effect.catch((error) => Effect.succeed(recover(options, entries, tries, error, attempted))),
        Effect.catchDefect((defect) => Effect.succeed(part(options, entries, defect))),
        Effect.flatten,
      )
  })

const land = (options: Flying, done: Attempt): Effect.Effect<void> =>
  Effect.suspend(() => {
    Measures.landed(done.verdicts.size, done.events)
    for (const [entry, verdict] of done.verdicts) entry.done(verdict)
    Queue.offerAllUnsafe(options.aside, done.aside)
    return done.postponed.length === 0 ? Effect.void : fly(options, done.postponed)
  })

const recover = (
  options: Flying,
  entries: ReadonlyArray<Entry>,
  tries: number,
  error: LedgerError,
  attempted: Attempt | undefined,
): Effect.Effect<void> => {
  switch (error._tag) {
    case "TryAgain":
      return again(options, entries, tries, error)
    case "Poisoned":
      return error.contested === true && entries.length === 1
        ? again(options, entries, tries, error)
        : part(options, entries, error.cause)
    case "Failed":
      return give(entries, Exit.die(error.cause))
    case "OutcomeUnknown": {
      const witness = attempted?.events[0]
      return attempted === undefined || witness === undefined
        ? setOutAgain(options, entries, tries, error)
        : askWhatBecameOf(options, entries, attempted, witness, error)
    }
  }
}

/** The connection was lost before anything could be committed: all is to be done, once the database answers. */
const setOutAgain = Effect.fnUntraced(function* (
  options: Flying,
  entries: ReadonlyArray<Entry>,
  tries: number,
  error: LedgerError,
): Effect.fn.Return<void> {
  yield* pause(tries)
  const now = yield* SteadyClock.millis
  yield* give(
    entries.filter((entry) => !isPatient(entry, now)),
    Exit.die(error),
  )
  const patient = entries.filter((entry) => isPatient(entry, now))
  if (patient.length > 0) yield* fly(options, patient, tries + 1)
})

/**
 * The connection was lost while the commit was on its way. One event stands for all, since a flight is one
 * transaction. While the log gives no answer nobody may try again, and in the end the callers hear that nobody knows.
 */
const askWhatBecameOf = Effect.fnUntraced(function* (
  options: Flying,
  entries: ReadonlyArray<Entry>,
  attempted: Attempt,
  witness: Stored,
  error: LedgerError,
): Effect.fn.Return<void> {
  for (let asked = 1; ; asked++) {
    const landed = yield* Effect.option(options.ledger.landed(witness, scopeOf(entries)))
    if (Option.isSome(landed)) return yield* landed.value ? land(options, attempted) : fly(options, entries)
    const now = yield* SteadyClock.millis
    if (!entries.some((entry) => isPatient(entry, now))) return yield* give(entries, Exit.die(error))
    yield* pause(asked)
  }
})

const isPatient = ({ since }: Entry, now: number): boolean => now - since < PATIENCE_MS

const again = (
  options: Flying,
  entries: ReadonlyArray<Entry>,
  tries: number,
  error: LedgerError,
): Effect.Effect<void> =>
  tries >= MAX_TRIES
    ? give(entries, Exit.die(error.cause))
    : Effect.andThen(tries === 1 ? Effect.void : pause(tries), fly(options, entries, tries + 1))

/** Somebody in the flight is at fault: the halves fly apart, until it is alone with its fault. */
const part = (options: Flying, entries: ReadonlyArray<Entry>, fault: unknown): Effect.Effect<void> => {
  if (entries.length <= 1) return give(entries, Exit.die(fault))
  const middle = Math.ceil(entries.length / 2)
  return Effect.andThen(fly(options, entries.slice(0, middle)), fly(options, entries.slice(middle)))
}

const pause = (tries: number): Effect.Effect<void> =>
  Effect.interruptible(Effect.sleep(Math.min(FIRST_PAUSE_MS * 2 ** tries, MAX_PAUSE_MS)))

const give = (entries: ReadonlyArray<Entry>, verdict: Exit.Exit<never>): Effect.Effect<void> =>
  Effect.sync(() => {
    for (const entry of entries) entry.done(verdict)
  })
