import type { AccountId, EmailId } from "@waybill/domain/values/Id"
import type { Commit } from "@waybill/store/commit/Commit"
import { EventStore } from "@waybill/store/commit/EventStore"
import type { Committed } from "@waybill/store/idempotency/IdempotencyRef"
import { Context, Effect, Exit, Layer, Result, Tracer } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import { id } from "../../support/history.ts"
import * as Database from "../../support/postgres/Database.ts"
import { Refused, send } from "./commits.ts"

/** A send with an idempotency key, whose answer is the id of the message. */
const keyed = (account_id: AccountId, key: string, over: Partial<Commit<EmailId, Refused>> = {}) => ({
  ...send(account_id, over),
  idempotency: {
    account_id,
    route: "send",
    key,
    fingerprint: "f",
    encode: (answer: EmailId): Uint8Array => Buffer.from(answer),
  },
})

const refused = { decide: () => Result.fail(new Refused({ why: "no longer" })) }

const otherStore = Effect.map(Layer.build(EventStore.layer()), (services) => Context.get(services, EventStore))

/** Counts how often statements are sent after earlier ones were answered, by all that is made under the tracer. */
const countWaits = () => {
  const counted = { waits: 0 }
  let isAnswered = false
  class Statement extends Tracer.NativeSpan {
    override end(...args: Parameters<Tracer.NativeSpan["end"]>): void {
      isAnswered = true
      super.end(...args)
    }
  }
  const tracer = Tracer.make({
    span: (options) => {
      if (options.kind !== "client") return new Tracer.NativeSpan(options)
      if (isAnswered) counted.waits++
      isAnswered = false
      return new Statement(options)
    },
  })
  return { counted, tracer }
}

type Outcome = Committed<unknown>
const shown = (outcome: Outcome): string =>
  outcome._tag === "Replayed" ? `replayed ${Buffer.from(outcome.storedAnswer).toString()}` : `new ${outcome.answer}`

layer(EventStore.layer().pipe(Layer.provideMerge(Database.layerFresh)), { excludeTestServices: true })(
  "an idempotency key",
  (it) => {
    it.effect(
      "is replayed if another process has stored its answer, and the others of its batch are not",
      function* () {
        const { transact } = yield* EventStore
        const other = yield* otherStore
        const account_id = id("AccountId")
        const first = shown(yield* other.transact(keyed(account_id, "one")))
        const outcomes = yield* Effect.forEach(
          [
            Effect.map(transact(keyed(account_id, "one")), shown),
            Effect.map(transact(keyed(account_id, "two")), shown),
            Effect.map(transact(send(account_id)), (answer) => `new ${answer}`),
          ],
          (committing) => committing,
          { concurrency: "unbounded" },
        )
        assert.strictEqual(outcomes[0], first.replace("new", "replayed"))
        for (const outcome of outcomes.slice(1)) assert.match(outcome, /^new /u)
      },
    )

    it.effect("is replayed also if the request would be refused now", function* () {
      const { transact } = yield* EventStore
      const other = yield* otherStore
      const account_id = id("AccountId")
      const first = shown(yield* other.transact(keyed(account_id, "one")))
      assert.strictEqual(shown(yield* transact(keyed(account_id, "one", refused))), first.replace("new", "replayed"))
      assert.isTrue(Exit.isFailure(yield* Effect.exit(transact(keyed(account_id, "two", refused)))))
    })

    it.effect("costs a batch no wait: its answer is written with the events", function* () {
      const { counted, tracer } = countWaits()
      const store = yield* Effect.withTracer(otherStore, tracer)
      const account_id = id("AccountId")
      const waitsOf = Effect.fnUntraced(function* <A, E>(committing: Effect.Effect<A, E>) {
        counted.waits = 0
        yield* committing
        return counted.waits
      })
      // The first commit opens the connection.
      yield* store.transact(send(account_id))
      // The reads follow an answer to the batch before, and the writes the answer to the reads.
      assert.strictEqual(yield* waitsOf(store.transact(send(account_id))), 2)
      assert.strictEqual(yield* waitsOf(store.transact(keyed(account_id, "one"))), 2)
    })

    it.effect("is stored once by processes that meet it together", function* () {
      const stores = [yield* EventStore, yield* otherStore, yield* otherStore]
      const account_id = id("AccountId")
      for (let nth = 0; nth < 10; nth++) {
        const outcomes = yield* Effect.forEach(
          [...stores, ...stores],
          (store) => Effect.map(store.transact(keyed(account_id, `key ${nth}`)), shown),
          { concurrency: "unbounded" },
        )
        const [made, ...others] = outcomes.filter((outcome) => outcome.startsWith("new"))
        assert.isEmpty(others)
        const replayed = made?.replace("new", "replayed")
        assert.lengthOf(
          outcomes.filter((outcome) => outcome === replayed),
          5,
        )
      }
    })
  },
)
