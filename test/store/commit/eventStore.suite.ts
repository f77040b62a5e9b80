import * as Email from "@waybill/domain/email/Email"
import type { AccountId } from "@waybill/domain/values/Id"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Effect, Exit, Fiber, Result } from "effect"
import { assert, type Methods } from "../../support/effectTest.ts"
import { id } from "../../support/history.ts"
import { addKey, open, Refused, send } from "./commits.ts"

const refOf = (account_id: AccountId, key: string, fingerprint: string) => ({
  account_id,
  route: "POST /email/send",
  key,
  fingerprint,
  encode: (answer: string) => new TextEncoder().encode(answer),
})

/** The guarantees of the event store, tested in the first cell and in others. */
export const conformance = (it: Methods<EventStore>): void => {
  it.effect("returns the initial state of an unknown stream", function* () {
    const store = yield* EventStore
    const loaded = yield* store.load(Email, { account_id: id("AccountId"), stream_id: id("EmailId") })
    assert.deepStrictEqual([loaded.state, loaded.version], [Email.initial, 0])
  })

  it.effect("returns committed events in order with their versions", function* () {
    const store = yield* EventStore
    const account_id = id("AccountId")
    const answer = yield* store.transact(send(account_id))
    const ref = { account_id, stream_id: answer }
    yield* store.commit(Email, ref, open)
    yield* store.commit(Email, ref, open)
    const { history, state, version } = yield* store.load(Email, ref)
    assert.strictEqual(version, 3)
    assert.deepStrictEqual(
      history.map((recorded) => [recorded.version, recorded.event._tag]),
      [
        [1, "EmailQueued"],
        [2, "EmailOpened"],
        [3, "EmailOpened"],
      ],
    )
    assert.strictEqual(state._tag === "Message" ? state.opens : 0, 2)
  })

  it.effect("appends nothing when a decision refuses, and returns the refusal", function* () {
    const store = yield* EventStore
    const ref = { account_id: id("AccountId"), stream_id: id("EmailId") }
    const refused = yield* Effect.flip(store.commit(Email, ref, () => Result.fail(new Refused({ why: "so" }))))
    assert.deepStrictEqual(refused, new Refused({ why: "so" }))
    assert.strictEqual((yield* store.load(Email, ref)).version, 0)
  })

  it.effect("commits the rest of a batch with a refusal and a defect", function* () {
    const store = yield* EventStore
    const account_id = id("AccountId")
    const exits = yield* Effect.forEach(
      Array.from({ length: 60 }, (_, n) => n),
      (n) =>
        Effect.exit(
          store.transact(
            n % 3 === 0
              ? send(account_id)
              : send(account_id, {
                  decide: () => {
                    if (n % 3 === 1) return Result.fail(new Refused({ why: `${n}` }))
                    throw new Error("a bug in a decision")
                  },
                }),
          ),
        ),
      { concurrency: "unbounded" },
    )
    assert.deepStrictEqual(
      exits.map((exit) => (Exit.isSuccess(exit) ? 0 : Exit.hasDies(exit) ? 2 : 1)),
      exits.map((_, n) => n % 3),
    )
    assert.strictEqual((yield* store.feed({ after: 0n, account_id })).events.length, 20)
  })

  it.effect("decides conflicting commits one after another without losing one", function* () {
    const store = yield* EventStore
    const account_id = id("AccountId")
    const answer = yield* store.transact(send(account_id))
    const ref = { account_id, stream_id: answer }
    yield* Effect.forEach(Array.from({ length: 50 }), () => store.commit(Email, ref, open), {
      concurrency: "unbounded",
    })
    const { state, version } = yield* store.load(Email, ref)
    assert.deepStrictEqual([version, state._tag === "Message" && state.opens], [51, 50])
  })

  it.effect("shows a decision the changes of earlier commits of its batch", function* () {
    const store = yield* EventStore
    const account_id = id("AccountId")
    const seen = yield* Effect.forEach(
      Array.from({ length: 20 }),
      () => {
        const commit = send(account_id, { needs: { month: "2026-11" } })
        return store
          .transact({
            ...commit,
            decide: (view) =>
              view.facts.acceptedIn(account_id, "2026-11") < 7
                ? commit.decide(view)
                : Result.fail(new Refused({ why: "full" })),
          })
          .pipe(Effect.exit)
      },
      { concurrency: "unbounded" },
    )
    assert.strictEqual(seen.filter(Exit.isSuccess).length, 7)
  })

  it.effect("gives concurrent duplicates one answer and appends once", function* () {
    const store = yield* EventStore
    const account_id = id("AccountId")
    const committed = yield* Effect.forEach(
      Array.from({ length: 20 }),
      () => store.transact({ ...send(account_id), idempotency: refOf(account_id, "k1", "same") }),
      { concurrency: "unbounded" },
    )
    const answers = committed.map((each) =>
      each._tag === "Committed" ? each.answer : new TextDecoder().decode(each.storedAnswer),
    )
    assert.strictEqual(new Set(answers).size, 1)
    assert.strictEqual(committed.filter((each) => each._tag === "Committed").length, 1)
    assert.strictEqual((yield* store.feed({ after: 0n, account_id })).events.length, 1)
  })

  it.effect("refuses an idempotency key reused for a different request", function* () {
    const store = yield* EventStore
    const account_id = id("AccountId")
    yield* store.transact({ ...send(account_id), idempotency: refOf(account_id, "k1", "one") })
    const reused = yield* Effect.flip(
      store.transact({ ...send(account_id), idempotency: refOf(account_id, "k1", "other") }),
    )
    assert.strictEqual(reused._tag, "IdempotencyKeyReused")
  })

  it.effect("stores no idempotency key for a refusal", function* () {
    const store = yield* EventStore
    const account_id = id("AccountId")
    const idempotency = refOf(account_id, "k1", "same")
    const refuse = () => Result.fail(new Refused({ why: "not yet" }))
    yield* Effect.flip(store.transact({ ...send(account_id, { decide: refuse }), idempotency }))
    assert.strictEqual((yield* store.transact({ ...send(account_id), idempotency }))._tag, "Committed")
  })

  it.effect("commits also when the caller is interrupted", function* () {
    const store = yield* EventStore
    const account_id = id("AccountId")
    const caller = yield* Effect.forkChild(store.transact(send(account_id)), { startImmediately: true })
    yield* Fiber.interrupt(caller)
    // The next commit is in a later batch: when it is committed, the first one is as well.
    yield* store.transact(send(account_id))
    assert.strictEqual((yield* store.feed({ after: 0n, account_id })).events.length, 2)
  })

  it.effect("decides one at a time by the number of objects", function* () {
    const store = yield* EventStore
    const account_id = id("AccountId")
    const many = yield* Effect.forEach([1, 2, 3, 4, 5], () => Effect.exit(store.transact(addKey(account_id, 2))), {
      concurrency: "unbounded",
    })
    assert.strictEqual(many.filter(Exit.isSuccess).length, 2)
  })

  it.effect("separates accounts also when their stream ids are equal", function* () {
    const store = yield* EventStore
    const [one, other] = [id("AccountId"), id("AccountId")]
    const answer = yield* store.transact(send(one))
    assert.strictEqual((yield* store.load(Email, { account_id: other, stream_id: answer })).version, 0)
    assert.strictEqual((yield* store.feed({ after: 0n, account_id: other })).events.length, 0)
  })

  it.effect("reads the log in order, from a position, by type", function* () {
    const store = yield* EventStore
    const account_id = id("AccountId")
    const answer = yield* store.transact(send(account_id))
    yield* store.commit(Email, { account_id, stream_id: answer }, open)
    yield* store.transact(send(account_id))
    const all = yield* store.feed({ after: 0n, account_id })
    assert.deepStrictEqual(
      all.events.map((event) => event.type),
      ["EmailQueued", "EmailOpened", "EmailQueued"],
    )
    const rest = yield* store.feed({ after: all.events[0]?.position ?? 0n, account_id, types: ["EmailQueued"] })
    assert.deepStrictEqual(rest.events, all.events.slice(2))
    assert.deepStrictEqual((yield* store.feed({ after: all.upTo, account_id })).events, [])
    assert.strictEqual((yield* store.feed({ after: 0n, account_id, limit: 2 })).events.length, 2)
  })
}
