import type { AccountId, EmailId } from "@waybill/domain/values/Id"
import type { Commit } from "@waybill/store/commit/Commit"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Context, Effect, Exit, Layer, Result } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import { id } from "../../support/history.ts"
import * as Database from "../../support/postgres/Database.ts"
import { Refused, send } from "./commits.ts"

/** A send with an idempotency key, whose answer is the id of the message. */
const keyed = (account_id: AccountId, key: string, over: Partial<Commit<EmailId, Refused>> = {}) =>
  send(account_id, {
    idempotency: { account_id, route: "send", key, fingerprint: "f", encode: (answer) => Buffer.from(answer) },
    ...over,
  })

const refused = { decide: () => Result.fail(new Refused({ why: "no longer" })) }

const otherStore = Effect.map(Layer.build(EventStore.layer()), (services) => Context.get(services, EventStore))

type Outcome = Effect.Success<ReturnType<EventStore["Service"]["transact"]>>
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
          [keyed(account_id, "one"), keyed(account_id, "two"), send(account_id)],
          (commit) => Effect.map(transact(commit), shown),
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
