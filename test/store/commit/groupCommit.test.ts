import * as Webhook from "@waybill/domain/webhook/Webhook"
import type { AccountId } from "@waybill/domain/values/Id"
import type { Commit } from "@waybill/store/commit/Commit"
import * as GroupCommit from "@waybill/store/commit/GroupCommit"
import { makeDeps } from "@waybill/store/commit/EventStore"
import { PATIENCE_MS } from "@waybill/store/commit/CommitBatch"
import * as StreamStateCache from "@waybill/store/streams/StreamStateCache"
import type { Facts } from "@waybill/store/commit/Facts"
import type { LogStorage, LogTransaction } from "@waybill/store/commit/LogStorage"
import { AccountElsewhere, OutcomeUnknown, RowRejected, type StorageError } from "@waybill/store/postgres/StorageError"
import { Deferred, Effect, Exit, Fiber, Result } from "effect"
import { TestClock } from "effect/testing"
import { describe } from "vitest"
import { assert, it, layer } from "../../support/effectTest.ts"
import { id } from "../../support/history.ts"
import * as Database from "../../support/postgres/Database.ts"
import { logStorage } from "../../support/logStorage.ts"
import { send } from "./commits.ts"

const never = () => Effect.die(new Error("not expected here"))
const facts: Facts = {
  account: () => undefined,
  domain: () => undefined,
  suppression: () => undefined,
  acceptedIn: () => 0,
  unsent: () => ({ bytes: 0, refunded: 0 }),
  outbox: () => undefined,
  countOf: () => 0,
  alias: () => undefined,
  template: () => undefined,
  clock: () => undefined,
  subscriptions: () => [],
}

interface Batch {
  readonly size: number
  /** Whether it locks its accounts against all other batches. */
  readonly isExclusive: boolean
  /** Lets the batch be written. */
  readonly write: Effect.Effect<unknown>
  /** Lets the batch be flushed. */
  readonly flush: Effect.Effect<unknown>
}

/** A group commit on a log whose batches are written and flushed only when a test lets them, and may fail. */
const slowUnless = Effect.fnUntraced(function* (
  failureOf: (size: number, accounts: ReadonlyArray<string>) => StorageError | undefined,
) {
  const batches: Array<Batch> = []
  let isOver = false
  const storage: LogStorage = {
    readStreams: never,
    feed: never,
    isCommitted: never,
    transaction: ({ accounts, isExclusive }, body, onWritten = Effect.void) =>
      Effect.gen(function* () {
        const [mayWrite, mayFlush] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const batch = {
          size: 0,
          isExclusive,
          write: Deferred.succeed(mayWrite, undefined),
          flush: Deferred.succeed(mayFlush, undefined),
        }
        const transaction: LogTransaction = {
          readStreams: never,
          findAnswers: never,
          write: never,
          readFacts: (needs) => {
            batch.size = needs.length
            batches.push(batch)
            return Effect.as(isOver ? Effect.void : Deferred.await(mayWrite), facts)
          },
        }
        const done = yield* body(transaction)
        const failure = failureOf(batch.size, accounts)
        if (failure !== undefined) return yield* failure
        yield* onWritten
        if (!isOver) yield* Deferred.await(mayFlush)
        return done
      }),
  }
  const group = yield* GroupCommit.make({
    storage,
    kinds: { isOpen: () => true },
    cache: StreamStateCache.make(),
  }).pipe(Effect.provide(Database.alone))
  // The end of the scope waits for batches under way.
  yield* Effect.addFinalizer(() => {
    isOver = true
    return Effect.forEach(batches, ({ flush, write }) => Effect.andThen(write, flush), { discard: true })
  })
  const submit = (count: number, over: Partial<Commit<number, never>> = {}) =>
    Effect.gen(function* () {
      const callers: Array<Fiber.Fiber<unknown, unknown>> = []
      for (let nth = 0; nth < count; nth++) {
        const commit = {
          account_id: "acc" as AccountId,
          streams: [],
          // Facts that are always read.
          needs: { clocks: ["clk_1"] },
          decide: () => Result.succeed({ append: [], answer: nth }),
          ...over,
        }
        callers.push(yield* Effect.forkChild(group.submit(commit), { startImmediately: true }))
      }
      yield* settled
      return callers
    })
  const proceed = (step: "write" | "flush") => (nth: number) =>
    Effect.suspend(() => Effect.andThen(batches[nth]?.[step] ?? Effect.die(new Error("no such batch")), settled))
  return { batches, submit, write: proceed("write"), flush: proceed("flush") }
})
const slow = slowUnless(() => undefined)

/** Waits until nothing can continue by itself. */
const settled = Effect.repeat(Effect.yieldNow, { times: 20 })

const sizes = (batches: ReadonlyArray<Batch>) => batches.map(({ size }) => size)

const ENOUGH = GroupCommit.MIN_OVERLAP_COMMITS

describe("group commit", () => {
  it.effect("starts the next batch while the previous one is flushed, not while it is written", () =>
    Effect.gen(function* () {
      const { batches, flush, submit, write } = yield* slow
      const [first] = yield* submit(1)
      const [second] = yield* submit(ENOUGH)
      assert.deepStrictEqual(sizes(batches), [1])

      yield* write(0)
      assert.deepStrictEqual(sizes(batches), [1, ENOUGH])
      assert.strictEqual(first?.pollUnsafe(), undefined, "no caller is answered before the flush")

      yield* submit(ENOUGH)
      yield* write(1)
      assert.deepStrictEqual(sizes(batches), [1, ENOUGH], "a third batch waits until the first is committed")
      yield* flush(0)
      assert.deepStrictEqual(sizes(batches), [1, ENOUGH, ENOUGH])
      assert.strictEqual(first?.pollUnsafe()?._tag, "Success")
      assert.strictEqual(second?.pollUnsafe(), undefined)
    }).pipe(Effect.scoped),
  )

  it.effect("starts a batch of few commits when the previous one is flushed, with what has arrived until then", () =>
    Effect.gen(function* () {
      const { batches, flush, submit, write } = yield* slow
      yield* submit(1)
      yield* submit(ENOUGH - 1)
      yield* write(0)
      assert.deepStrictEqual(sizes(batches), [1])
      yield* submit(3)
      assert.deepStrictEqual(sizes(batches), [1])
      yield* flush(0)
      assert.deepStrictEqual(sizes(batches), [1, ENOUGH + 2])
    }).pipe(Effect.scoped),
  )

  it.effect("starts the next batch while the previous one is written if as many commits wait as that has", () =>
    Effect.gen(function* () {
      const { batches, flush, submit, write } = yield* slow
      const many = GroupCommit.MIN_SPLIT_COMMITS
      yield* submit(1)
      yield* submit(many - 1)
      assert.deepStrictEqual(sizes(batches), [1])
      yield* submit(1)
      assert.deepStrictEqual(sizes(batches), [1, many])
      yield* submit(many)
      yield* write(0)
      yield* write(1)
      assert.deepStrictEqual(sizes(batches), [1, many], "a third batch waits until the first is committed")
      yield* flush(0)
      assert.deepStrictEqual(sizes(batches), [1, many, many])
    }).pipe(Effect.scoped),
  )

  it.effect("starts the next batch after both halves of a batch that was split", () =>
    Effect.gen(function* () {
      const { batches, flush, submit, write } = yield* slowUnless((size) =>
        size === 2 ? new RowRejected({ cause: "a row" }) : undefined,
      )
      yield* submit(1)
      yield* submit(2)
      yield* write(0)
      yield* flush(0)
      yield* write(1)
      yield* submit(1)
      yield* write(2)
      assert.deepStrictEqual(sizes(batches), [1, 2, 1])
      yield* flush(2)
      assert.deepStrictEqual(sizes(batches), [1, 2, 1, 1])
      yield* write(3)
      yield* flush(3)
      assert.deepStrictEqual(sizes(batches), [1, 2, 1, 1, 1])
    }).pipe(Effect.scoped),
  )

  it.effect("refuses the commits of an account that has left the cell, and accepts the others of their batch", () =>
    Effect.gen(function* () {
      const { batches, flush, submit, write } = yield* slowUnless((_, accounts) =>
        accounts.includes("gone") ? new AccountElsewhere() : undefined,
      )
      yield* submit(1)
      const [stays] = yield* submit(1)
      const [left] = yield* submit(1, { account_id: "gone" as AccountId })
      yield* Effect.andThen(write(0), flush(0))
      yield* write(1)
      yield* Effect.andThen(write(2), flush(2))
      yield* write(3)
      assert.deepStrictEqual(sizes(batches), [1, 2, 1, 1])
      assert.strictEqual(stays?.pollUnsafe()?._tag, "Success")
      const refusal = yield* Effect.flip(Fiber.join(left ?? assert.fail("no caller")))
      assert.include(refusal, { _tag: "StoreUnavailable", why: "away" })
    }).pipe(Effect.scoped),
  )

  it.effect("takes all waiting commits when they are few, otherwise half of all under way", () =>
    Effect.gen(function* () {
      const { batches, flush, submit, write } = yield* slow
      yield* submit(1)
      yield* submit(GroupCommit.MIN_SPLIT_COMMITS)
      yield* write(0)
      yield* flush(0)
      assert.deepStrictEqual(sizes(batches), [1, GroupCommit.MIN_SPLIT_COMMITS])

      yield* submit(2 * GroupCommit.MIN_SPLIT_COMMITS)
      yield* write(1)
      // The commits that are being flushed count as well, because their callers will come back.
      assert.strictEqual(batches[2]?.size, 1.5 * GroupCommit.MIN_SPLIT_COMMITS)
    }).pipe(Effect.scoped),
  )

  it.effect("takes a commit that changes a webhook or decides by a count alone, and its accounts for itself", () =>
    Effect.forEach(
      [{ streams: [{ aggregate: Webhook, id: "wh_1", isNew: true }] }, { needs: { countOf: "api_key" } }] as const,
      (over) =>
        Effect.gen(function* () {
          const { batches, flush, submit, write } = yield* slow
          yield* submit(1)
          yield* submit(1)
          yield* submit(1, over)
          yield* submit(2)
          for (const nth of [0, 1, 2]) yield* Effect.andThen(write(nth), flush(nth))
          const taken = batches.map(({ isExclusive, size }) => [size, isExclusive])
          assert.deepStrictEqual(taken, [
            [1, false],
            [1, false],
            [1, true],
            [2, false],
          ])
        }).pipe(Effect.scoped),
    ),
  )

  it.effect("takes no more commits than a batch may hold", () =>
    Effect.gen(function* () {
      const { batches, submit, write } = yield* slow
      yield* submit(1)
      yield* submit(5 * GroupCommit.MAX_COMMITS_PER_BATCH)
      yield* write(0)
      assert.strictEqual(batches[1]?.size, GroupCommit.MAX_COMMITS_PER_BATCH)
    }).pipe(Effect.scoped),
  )

  it.effect("finishes the batches under way before it closes, and fails the waiting commits", function* () {
    const closing = yield* Effect.scoped(
      Effect.gen(function* () {
        const { submit } = yield* slow
        const [inBatch] = yield* submit(1)
        const [waiting] = yield* submit(1)
        return { inBatch, waiting }
      }),
    )
    yield* settled
    assert.strictEqual(closing.inBatch?.pollUnsafe()?._tag, "Success")
    assert.strictEqual(closing.waiting?.pollUnsafe()?._tag, "Failure")
  })

  it.effect("fails callers that still wait for a free place when it closes", function* () {
    const callers = yield* Effect.scoped(
      Effect.gen(function* () {
        const { submit } = yield* slow
        yield* submit(1)
        return yield* submit(GroupCommit.MAX_COMMITS_WAITING + 2 * GroupCommit.MAX_COMMITS_PER_BATCH)
      }),
    )
    yield* settled
    assert.lengthOf(
      callers.filter((caller) => caller.pollUnsafe() === undefined),
      0,
    )
  })
})

layer(Database.layerFresh, { excludeTestServices: true })("group commit on Postgres", (it) => {
  it.effect("reports an unknown outcome and does not commit the batch again", () =>
    Effect.gen(function* () {
      const log = yield* logStorage
      let transactions = 0
      const storage: LogStorage = {
        ...log,
        transaction: (scope, body, onWritten) => {
          transactions++
          return Effect.andThen(log.transaction(scope, body, onWritten), new OutcomeUnknown({ cause: "lost" }))
        },
        isCommitted: () => Effect.die(new Error("no answer can be read")),
      }
      const group = yield* GroupCommit.make({ storage, ...makeDeps() })
      const account_id = id("AccountId")
      const exits = yield* Effect.all(
        [1, 2].map(() => Effect.exit(group.submit(send(account_id)))),
        { concurrency: "unbounded" },
      )
      for (const exit of exits) assert.include(String(Exit.isFailure(exit) && exit.cause), "no answer can be read")
      const { events } = yield* log.feed({ after: 0n, account_id })
      assert.deepStrictEqual([transactions, events.length], [1, 2])
    }).pipe(Effect.scoped),
  )

  it.effect("gives up a batch whose connection ends at each COMMIT, though the log says that it is not there", () =>
    Effect.gen(function* () {
      const log = yield* logStorage
      let answers = 0
      const storage: LogStorage = {
        ...log,
        transaction: (scope, body, onWritten) =>
          log
            .transaction(scope, (transaction) => body({ ...transaction, write: () => Effect.void }), onWritten)
            .pipe(Effect.andThen(TestClock.adjust("1 second")), Effect.andThen(new OutcomeUnknown({ cause: "lost" }))),
        isCommitted: () => (++answers > 100 ? Effect.die(new Error("asked without end")) : Effect.succeed(false)),
      }
      const group = yield* GroupCommit.make({ storage, ...makeDeps() })
      assert.isTrue(Exit.isFailure(yield* Effect.exit(group.submit(send(id("AccountId"))))))
      assert.strictEqual(answers, PATIENCE_MS / 1000)
    }).pipe(Effect.scoped, Effect.provide(TestClock.layer())),
  )
})
