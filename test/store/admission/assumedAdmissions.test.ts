import { PgClient } from "@effect/sql-pg"
import * as Account from "@waybill/domain/account/Account"
import type { AccountId, EmailId } from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Admission, type Request } from "@waybill/store/admission/Admission"
import { KeyUses } from "@waybill/store/admission/KeyUses"
import { type AssumedAdmission, NotAdmitted } from "@waybill/store/admission/RememberedAdmissions"
import type { Commit } from "@waybill/store/commit/Commit"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Provenance, system } from "@waybill/store/log/Provenance"
import { Context, Effect, Exit, Layer, Result } from "effect"
import * as DatabaseClock from "../../support/DatabaseClock.ts"
import { assert, layer } from "../../support/effectTest.ts"
import { id } from "../../support/history.ts"
import * as Database from "../../support/postgres/Database.ts"
import { Refused, send } from "../commit/commits.ts"
import { account, key, type NewKey, revoke } from "./admissionKeys.ts"

/** Another process, whose connections and memory are its own. */
class OtherProcess extends Context.Service<OtherProcess, Context.Context<Admission | EventStore>>()("test/Other") {
  static readonly layer = Layer.unwrap(
    Effect.map(Database.Fresh, (fresh) =>
      Layer.effect(OtherProcess, Effect.context<Admission | EventStore>()).pipe(
        Layer.provide([Layer.fresh(Admission.layer), Layer.fresh(EventStore.layer())]),
        Layer.provide(Layer.fresh(KeyUses.layer)),
        Layer.provide(Layer.fresh(Database.layerOf(fresh))),
      ),
    ),
  )
}

const World = Layer.mergeAll(Admission.layer, OtherProcess.layer, EventStore.layer()).pipe(
  Layer.provideMerge(KeyUses.layer),
  Layer.provideMerge(DatabaseClock.layer),
)

const LIMIT = 1_000

const request = (hash: string): Request => ({ tokenHash: hash, bucket: "send", address: "203.0.113.7" })

/** A key by which this process has admitted a request. */
const used = Effect.fnUntraced(function* (options: NewKey = {}) {
  const { admit, assume } = yield* Admission
  const made = yield* key(yield* account, options)
  assert.isUndefined(assume(request(made.hash)))
  assert.strictEqual((yield* admit(request(made.hash)))._tag, "Admitted")
  return made
})

const assume = Effect.fnUntraced(function* (hash: string) {
  const assumed = (yield* Admission).assume(request(hash))
  return assumed ?? (yield* Effect.die(new Error("the request was not assumed to be admitted")))
})

type Sending = Commit<EmailId, Refused | NotAdmitted>

const sending = (account_id: AccountId, admission: AssumedAdmission, over: Partial<Sending> = {}): Sending => ({
  ...send(account_id),
  admission,
  ...over,
})

const counted = Effect.fnUntraced(function* (key_id: string) {
  const sql = yield* PgClient.PgClient
  const [row] = yield* sql<{ readonly count: number }>`
    SELECT sum(count)::int AS count FROM rate_windows WHERE bucket = ${`${key_id}/send`}`
  return row?.count
})

const messagesOf = Effect.fnUntraced(function* (account_id: AccountId) {
  const sql = yield* PgClient.PgClient
  const [row] = yield* sql<{ readonly n: number }>`
    SELECT count(*)::int AS n FROM events WHERE account_id = ${account_id} AND type = 'EmailQueued'`
  return row?.n
})

/** Runs commits in one batch, behind that of another commit. */
const together = Effect.fnUntraced(function* <E>(commits: ReadonlyArray<Effect.Effect<unknown, E>>) {
  const { transact } = yield* EventStore
  const first = Effect.exit(transact(send(id("AccountId"))))
  const [, ...outcomes] = yield* Effect.all([first, ...commits.map(Effect.exit)], { concurrency: "unbounded" })
  return outcomes as ReadonlyArray<Exit.Exit<unknown, E>>
})

const isFailure = (exit: Exit.Exit<unknown, unknown>, kind: typeof NotAdmitted | typeof Refused): boolean =>
  Exit.isFailure(exit) && exit.cause.reasons.some((each) => each._tag === "Fail" && each.error instanceof kind)
const isNotAdmitted = (exit: Exit.Exit<unknown, unknown>): boolean => isFailure(exit, NotAdmitted)

layer(World, { excludeTestServices: true })("a request that its commit admits", (it) => {
  it.effect("is counted once, with its message, and knows the state of its window", function* () {
    const { transact } = yield* EventStore
    const { account_id, hash, id: key_id } = yield* used()
    const requests = [yield* assume(hash), yield* assume(hash), yield* assume(hash)]
    yield* Effect.forEach(requests, (each) => transact(sending(account_id, each)), { concurrency: 3 })
    assert.deepStrictEqual(
      requests.map(({ standing }) => standing.remaining),
      [LIMIT - 2, LIMIT - 3, LIMIT - 4],
    )
    assert.strictEqual(yield* counted(key_id), 4)
    assert.strictEqual(yield* messagesOf(account_id), 3)
  })

  it.effect("is counted when its message is refused, or repeats an earlier request", function* () {
    const { transact } = yield* EventStore
    const { account_id, hash, id: key_id } = yield* used()
    const claim = {
      account_id,
      route: "POST /email/send",
      key: "k",
      fingerprint: "f",
      encode: () => new Uint8Array([1]),
    }
    const twice = [yield* assume(hash), yield* assume(hash)].map((each) =>
      transact(sending(account_id, each, { idempotency: claim })),
    )
    const done = yield* Effect.all(twice, { concurrency: 2 })
    assert.deepStrictEqual(done.map(({ _tag }) => _tag).toSorted(), ["Committed", "Replayed"])
    assert.strictEqual(yield* counted(key_id), 3)
    const refused = yield* assume(hash)
    const refusing = sending(account_id, refused, { decide: () => Result.fail(new Refused({ why: "test" })) })
    assert.isTrue(isFailure(yield* Effect.exit(transact(refusing)), Refused))
    assert.strictEqual(yield* counted(key_id), 4)
  })

  it.effect("is refused once its key is revoked, with the others of its batch admitted first", function* () {
    const { transact } = yield* EventStore
    const [kept, revoked] = [yield* used(), yield* used()]
    const both = [
      transact(sending(revoked.account_id, yield* assume(revoked.hash))),
      transact(sending(kept.account_id, yield* assume(kept.hash))),
    ]
    yield* revoke(revoked)
    const outcomes = yield* together(both)
    // Which of them is to blame is not known, so the callers of both have to admit them.
    assert.deepStrictEqual(outcomes.map(isNotAdmitted), [true, true])
    yield* transact(send(kept.account_id))
    assert.strictEqual(yield* messagesOf(revoked.account_id), 0)
    assert.strictEqual(yield* counted(revoked.id), 1)
    assert.strictEqual(yield* messagesOf(kept.account_id), 1)
    const { admit, assume: again } = yield* Admission
    assert.strictEqual((yield* admit(request(revoked.hash)))._tag, "Unauthorized")
    assert.isUndefined(again(request(revoked.hash)))
  })

  it.effect(
    "is checked by what it knows, beside one from another address that knows a newer version of the key",
    function* () {
      const sql = yield* PgClient.PgClient
      const { transact } = yield* EventStore
      const { admit, assume: may } = yield* Admission
      const { account_id, hash, id: key_id } = yield* used()
      const elsewhere = { ...request(hash), address: "203.0.113.8" }
      const before = yield* assume(hash)
      yield* sql`UPDATE api_keys SET version = version + 1, allowed_ips = '{203.0.113.8}' WHERE id = ${key_id}`
      assert.strictEqual((yield* admit(elsewhere))._tag, "Admitted")
      const newer = may(elsewhere)
      assert.isDefined(newer)
      const both = [newer, before].map((each) => transact(sending(account_id, each)))
      assert.deepStrictEqual((yield* together(both)).map(isNotAdmitted), [true, true])
      assert.strictEqual(yield* messagesOf(account_id), 0)
    },
  )

  it.effect("is refused once its key has expired", function* () {
    const { transact } = yield* EventStore
    yield* DatabaseClock.set("2026-11-21T12:00:30Z")
    const { account_id, hash } = yield* used({ expires_at: Timestamp.Timestamp.make("2026-11-21T12:00:31.000Z") })
    const [before, after] = [yield* assume(hash), yield* assume(hash)]
    yield* transact(sending(account_id, before))
    yield* DatabaseClock.set("2026-11-21T12:00:31Z")
    assert.isTrue(isNotAdmitted(yield* Effect.exit(transact(sending(account_id, after)))))
    yield* DatabaseClock.set("2026-11-21T12:00:30Z")
  })

  it.effect("is admitted first after the limits of its account have changed", function* () {
    const { commit, transact } = yield* EventStore
    const { account_id, hash } = yield* used()
    const assumed = yield* assume(hash)
    const granted = { ...Account.NONE_GRANTED, send: 10 }
    const at = Timestamp.Timestamp.make("2026-11-21T12:00:30.000Z")
    yield* commit(Account, { account_id, stream_id: account_id }, Account.changeLimits(at, granted))
    assert.isTrue(isNotAdmitted(yield* Effect.exit(transact(sending(account_id, assumed)))))
  })

  it.effect("is assumed to be admitted only far from the limit, and never beyond it", function* () {
    const { admit, assume: may } = yield* Admission
    const other = yield* OtherProcess
    const { account_id, hash, id: key_id } = yield* used()
    const early = yield* assume(hash)
    // The other process uses the window up, which this one does not know.
    yield* Effect.forEach(Array.from({ length: LIMIT - 1 }), () => Context.get(other, Admission).admit(request(hash)), {
      concurrency: 100,
    })
    const { transact } = yield* EventStore
    assert.isTrue(isNotAdmitted(yield* Effect.exit(transact(sending(account_id, early)))))
    assert.strictEqual(yield* counted(key_id), LIMIT)
    assert.strictEqual((yield* admit(request(hash)))._tag, "RateLimited")
    assert.isUndefined(may(request(hash)))
  })

  it.effect("of two processes at once is counted exactly", function* () {
    const other = yield* OtherProcess
    const own = yield* Effect.context<Admission | EventStore>()
    const { account_id, hash, id: key_id } = yield* used()
    const SENDS = 800
    const sendAt = Effect.fnUntraced(function* (context: Context.Context<Admission | EventStore>) {
      const [admission, { transact }] = [Context.get(context, Admission), Context.get(context, EventStore)]
      const assumed = admission.assume(request(hash))
      if (assumed !== undefined) {
        const done = yield* Effect.exit(transact(sending(account_id, assumed)))
        if (Exit.isSuccess(done)) return true
        assert.isTrue(isNotAdmitted(done))
      }
      const verdict = yield* admission.admit(request(hash))
      if (verdict._tag !== "Admitted") return false
      yield* transact(send(account_id))
      return true
    })
    const sent = yield* Effect.forEach(
      Array.from({ length: SENDS * 2 }, (_, nth) => (nth % 2 === 0 ? own : other)),
      sendAt,
      { concurrency: 64 },
    )
    assert.strictEqual(sent.filter(Boolean).length, LIMIT - 1)
    assert.strictEqual(yield* messagesOf(account_id), LIMIT - 1)
    // Refused requests are counted as well.
    assert.isAtLeast((yield* counted(key_id)) ?? 0, LIMIT)
  })

  it.effect("counts in the window of the next minute", function* () {
    const { transact } = yield* EventStore
    yield* DatabaseClock.set("2026-11-21T12:10:59Z")
    const { account_id, hash } = yield* used()
    const [last, next] = [yield* assume(hash), yield* assume(hash)]
    yield* transact(sending(account_id, last))
    yield* DatabaseClock.set("2026-11-21T12:11:00Z")
    yield* transact(sending(account_id, next))
    const minute = Date.UTC(2026, 10, 21, 12, 11) / 1000
    assert.deepStrictEqual(last.standing, { limit: LIMIT, remaining: LIMIT - 2, reset_s: minute })
    assert.deepStrictEqual(next.standing, { limit: LIMIT, remaining: LIMIT - 1, reset_s: minute + 60 })
  })

  it.effect("notes the use of its key", function* () {
    const sql = yield* PgClient.PgClient
    const { flush } = yield* KeyUses
    const { transact } = yield* EventStore
    yield* DatabaseClock.set("2026-11-21T12:20:00Z")
    const { account_id, hash, id: key_id } = yield* used()
    const assumed = yield* assume(hash)
    yield* DatabaseClock.set("2026-11-21T12:20:40Z")
    yield* transact(sending(account_id, assumed))
    yield* flush
    assert.deepStrictEqual(
      yield* sql`SELECT extract(epoch FROM last_used_at)::int AS at FROM api_key_uses WHERE key_id = ${key_id}`,
      [{ at: Date.UTC(2026, 10, 21, 12, 20, 40) / 1000 }],
    )
  })

  it.effect("is admitted first after its batch met a row that Postgres refuses", function* () {
    const { transact } = yield* EventStore
    const { account_id, hash, id: key_id } = yield* used()
    const assumed = yield* assume(hash)
    const refused = Effect.provideService(transact(send(account_id)), Provenance, { ...system, request_id: "a\0b" })
    const outcomes = yield* together([refused, transact(sending(account_id, assumed))])
    assert.deepStrictEqual(outcomes.map(Exit.isFailure), [true, true])
    assert.deepStrictEqual(outcomes.map(isNotAdmitted), [false, true])
    assert.strictEqual(yield* counted(key_id), 1)
  })
})
