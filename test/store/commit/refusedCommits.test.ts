import * as Availability from "@waybill/store/availability/Availability"
import type { Problem } from "@waybill/store/availability/Problem"
import { makeDeps } from "@waybill/store/commit/EventStore"
import * as GroupCommit from "@waybill/store/commit/GroupCommit"
import type { LogStorage, LogTransaction } from "@waybill/store/commit/LogStorage"
import { Failed, OutcomeUnknown } from "@waybill/store/postgres/StorageError"
import { Cause, Deferred, Effect, Exit, Fiber } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import { id } from "../../support/history.ts"
import * as Database from "../../support/postgres/Database.ts"
import { logStorage } from "../../support/logStorage.ts"
import { send } from "./commits.ts"

type Step = "readFacts" | "write" | "commit"

/** A group commit that stops at one step of its transaction, and a watch that the test moves. */
const stoppedAt = Effect.fnUntraced(function* (step: Step) {
  const log = yield* logStorage
  const [reached, goOn] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
  const listeners: Array<() => void> = []
  let problem: Problem | undefined
  let isFirst = true
  const pause = (at: Step) =>
    Effect.suspend(() => {
      if (at !== step || !isFirst) return Effect.void
      isFirst = false
      return Effect.andThen(Deferred.succeed(reached, undefined), Deferred.await(goOn))
    })
  const paused = (transaction: LogTransaction): LogTransaction => ({
    ...transaction,
    readFacts: (needs, now) => Effect.andThen(pause("readFacts"), transaction.readFacts(needs, now)),
    write: (write) => Effect.andThen(pause("write"), transaction.write(write)),
  })
  const storage: LogStorage = {
    ...log,
    transaction: (scope, body, onWritten) =>
      Effect.gen(function* () {
        const result = yield* log.transaction(scope, (transaction) => body(paused(transaction)), onWritten)
        if (step !== "commit" || !isFirst) return result
        // The server has committed, and the answer does not arrive.
        yield* pause("commit")
        return yield* new OutcomeUnknown({ cause: "lost" })
      }),
  }
  const shape: Availability.AvailabilityShape = {
    isWatched: true,
    problem: () => problem,
    waiting: () => () => {},
    onLost: (listener) => Effect.sync(() => void listeners.push(listener)),
    report: () => Effect.succeed(false),
    verify: Effect.succeed(undefined),
    isAway: Effect.succeed(false),
  }
  const group = yield* Effect.provideService(
    GroupCommit.make({ storage, ...makeDeps() }),
    Availability.Availability,
    Availability.ofOne(shape),
  )
  return {
    group,
    log,
    reached: Deferred.await(reached),
    goOn: Deferred.succeed(goOn, undefined),
    lose: () => {
      problem = { text: "away", cause: Cause.empty }
      for (const listener of listeners) listener()
    },
    recover: () => {
      problem = undefined
    },
  }
})

const reasonOf = (exit: Exit.Exit<unknown, unknown>): unknown =>
  Exit.isFailure(exit) ? (Cause.squash(exit.cause) as { readonly reason?: unknown }).reason : exit

layer(Database.layerFresh, { excludeTestServices: true })("a commit whose database is given up", (it) => {
  for (const step of ["readFacts", "write"] as const)
    it.effect(`takes no effect once its caller was told that nothing was accepted (${step})`, function* () {
      const { goOn, group, log, lose, reached, recover } = yield* stoppedAt(step)
      const account_id = id("AccountId")
      const caller = yield* Effect.forkChild(Effect.exit(group.submit(send(account_id))), { startImmediately: true })
      yield* reached
      lose()
      assert.strictEqual(reasonOf(yield* Fiber.join(caller)), "unavailable")
      recover()
      yield* goOn
      yield* group.submit(send(account_id))
      assert.lengthOf((yield* log.feed({ after: 0n, account_id })).events, 1)
    })

  it.effect("is not said to be refused once its COMMIT was sent, and is not committed again", function* () {
    const { goOn, group, log, lose, reached, recover } = yield* stoppedAt("commit")
    const account_id = id("AccountId")
    const caller = yield* Effect.forkChild(Effect.exit(group.submit(send(account_id))), { startImmediately: true })
    yield* reached
    lose()
    assert.strictEqual(reasonOf(yield* Fiber.join(caller)), "outcome_unknown")
    assert.strictEqual(reasonOf(yield* Effect.exit(group.submit(send(account_id)))), "unavailable")
    recover()
    yield* goOn
    yield* group.submit(send(account_id))
    assert.lengthOf((yield* log.feed({ after: 0n, account_id })).events, 2)
  })

  it.effect("is refused with all others of its batch, once, when the database refuses all writes", function* () {
    const log = yield* logStorage
    const full = new Error("the disk is full")
    const batches: Array<number> = []
    const storage: LogStorage = {
      ...log,
      transaction: (scope, body) =>
        log.transaction(scope, (transaction) =>
          Effect.andThen(
            body({
              ...transaction,
              readFacts: (needs, now) => {
                batches.push(needs.length)
                return transaction.readFacts(needs, now)
              },
              write: () => Effect.void,
            }),
            new Failed({ cause: full }),
          ),
        ),
    }
    const group = yield* Effect.provideService(
      GroupCommit.make({ storage, ...makeDeps() }),
      Availability.Availability,
      Availability.ofOne({
        isWatched: true,
        problem: () => undefined,
        waiting: () => () => {},
        onLost: () => Effect.void,
        report: (cause) => Effect.succeed(Cause.squash(cause) === full),
        verify: Effect.succeed(undefined),
        isAway: Effect.succeed(false),
      }),
    )
    const account_id = id("AccountId")
    const exits = yield* Effect.forEach([1, 2, 3], () => Effect.exit(group.submit(send(account_id))), {
      concurrency: "unbounded",
    })
    assert.deepStrictEqual(exits.map(reasonOf), ["unavailable", "unavailable", "unavailable"])
    assert.strictEqual(
      batches.reduce((sum, size) => sum + size, 0),
      exits.length,
    )
  })
})
