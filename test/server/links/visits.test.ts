import * as Email from "@waybill/domain/email/Email"
import type { Address } from "@waybill/domain/values/Address"
import type { EmailId } from "@waybill/domain/values/Id"
import { NothingNew } from "@waybill/domain/values/Refusal"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as Mask from "@waybill/store/erasure/Mask"
import { Cells } from "@waybill/store/routing/Cells"
import { Cause, Context, Effect, Layer, Logger, Result } from "effect"
import { TestClock } from "effect/testing"
import * as Visits from "../../../apps/server/src/links/Visits.ts"
import { assert, describe, it, layer } from "../../support/effectTest.ts"
import { id, queued } from "../../support/history.ts"
import * as Database from "../../support/postgres/Database.ts"

const account_id = id("AccountId")
const at = Timestamp.Timestamp.make("2026-11-21T09:00:00.000Z")
const visit = (email_id: EmailId, over: Partial<Visits.Visit> = {}): Visits.Visit => ({
  mail: { account_id, email_id },
  url: null,
  user_agent: "Mail/1.0",
  ip: "203.0.113.9",
  at,
  ...over,
})

/** Creates an email, and returns the visits in its history. */
const mail = Effect.fnUntraced(function* (over: Readonly<Record<string, unknown>> = {}) {
  const email_id = id("EmailId")
  const store = yield* EventStore
  const ref = { account_id, stream_id: email_id }
  yield* store.commit(Email, ref, () => Result.succeed([queued(email_id, over)] as const))
  const seen = Effect.map(store.load(Email, ref), ({ state }) =>
    state._tag === "Message" ? [state.opens, state.clicks] : [],
  )
  return { email_id, seen }
})

/** Queues visits and stops the service, which records all of them first. */
const noted = (visits: ReadonlyArray<Visits.Visit>) =>
  Effect.scoped(
    Effect.map(Layer.build(Visits.layer), (built) => {
      for (const each of visits) Context.get(built, Visits.Visits).note(each)
    }),
  )

/** A store whose commits to an email do this. */
const storeThat = (commits: (email: string) => Effect.Effect<unknown, unknown>) =>
  Layer.mock(EventStore)({
    transact: (({ streams: [stream] }: { readonly streams: readonly [{ readonly id: string }] }) =>
      commits(stream.id)) as never,
  })

/** A store that accepts everything and lists the emails. */
const counting = () => {
  const written: Array<string> = []
  return { written, layer: storeThat((email) => Effect.sync(() => written.push(email))) }
}

const Store = EventStore.layer().pipe(Layer.provideMerge(Database.layerFresh))

layer(Store, { excludeTestServices: true })("visits", (it) => {
  it.effect("are recorded in the background, and before a stop", function* () {
    const one = yield* mail()
    const other = yield* mail()
    const url = "https://shop.test/"
    // Visits of emails that do not exist any more, or never did.
    yield* noted([
      visit(one.email_id),
      visit(id("EmailId")),
      visit(other.email_id, { url }),
      visit(one.email_id, { url }),
      visit(one.email_id),
    ])
    // A click from a mail client that shows no pictures does not count as an open.
    assert.deepStrictEqual(
      [yield* one.seen, yield* other.seen],
      [
        [2, 1],
        [0, 1],
      ],
    )
  })

  // threat: erased-people
  it.effect("of erased recipients are not recorded", function* () {
    const forgotten = Mask.replacement(Buffer.alloc(8)) as Address
    const onlyErased = yield* mail({ to: [{ address: forgotten }] })
    const among = yield* mail({ to: [{ address: forgotten }, { address: "bob@example.org" }] })
    yield* noted([onlyErased, among].map(({ email_id }) => visit(email_id)))
    assert.deepStrictEqual(
      [yield* onlyErased.seen, yield* among.seen],
      [
        [0, 0],
        [1, 0],
      ],
    )
  })
})

describe("visits", () => {
  it.effect("of a cell that the process serves for the first time are recorded before a stop as well", function* () {
    const { layer, written } = counting()
    const elsewhere = { ...(yield* Cells), of: () => Effect.succeed("cell_b") }
    const one = visit(id("EmailId"))
    yield* noted([one]).pipe(Effect.provideService(Cells, elsewhere), Effect.provide(layer))
    assert.deepStrictEqual(written, [one.mail.email_id])
  })

  // threat: forged-visits
  it.effect("are limited per address and minute, without affecting others", function* () {
    const { layer, written } = counting()
    const v6 = (ip: string, over: Partial<Visits.Visit> = {}) =>
      visit(id("EmailId"), { ip: `2001:db8:1:${ip}`, ...over })
    const after = [v6("2:ffff::1"), v6("3::1"), v6("2::1", { at: Timestamp.plus(at, Timestamp.MINUTE) })]
    const crowd = Array.from({ length: Visits.MAX_VISITS_PER_MINUTE }, (_, n) => v6(`2::${n.toString(16)}`))
    yield* noted([...crowd, ...after]).pipe(Effect.provide(layer))
    assert.deepStrictEqual(
      written.slice(Visits.MAX_VISITS_PER_MINUTE),
      after.slice(1).map(({ mail }) => mail.email_id),
    )
  })

  it.effect("to closed mail do not read its history again", function* () {
    const read: Array<string> = []
    const full = storeThat((email) => {
      read.push(email)
      return Effect.fail(new NothingNew())
    })
    const [one, other] = [id("EmailId"), id("EmailId")]
    const crowd = Array.from({ length: Visits.VISITS_AT_ONCE * 10 }, () => visit(one))
    yield* noted([...crowd, visit(one, { url: "https://shop.test/" }), visit(other)]).pipe(Effect.provide(full))
    assert.isAtMost(read.filter((each) => each === one).length, Visits.VISITS_AT_ONCE + 1)
    assert.include(read, other)
    assert.include(read.slice(-2), one)
  })

  it.effect("lost by a database failure affect neither later ones nor the service", function* () {
    const written: Array<string> = []
    let tries = 0
    const troubled = storeThat((email) =>
      Effect.sync(() => {
        if (++tries <= Visits.VISITS_AT_ONCE * 2) throw new Error("no database")
        written.push(email)
      }),
    )
    const last = id("EmailId")
    const lost = Array.from({ length: Visits.VISITS_AT_ONCE * 2 }, () => visit(id("EmailId")))
    yield* noted([...lost, visit(last)]).pipe(Effect.provide(troubled))
    assert.deepStrictEqual(written, [last])
  })

  it.effect("that are lost are logged with the first cause, then by number", function* () {
    const logged: Array<unknown> = []
    const logger = Logger.make(({ cause, message }) => {
      const [words, fields] = message as ReadonlyArray<unknown>
      logged.push(Cause.pretty(cause).includes("no database") ? words : fields)
    })
    let tries = 0
    const away = storeThat(() =>
      Effect.andThen(
        Effect.sync(() => tries++),
        Effect.die("no database"),
      ),
    )
    const lose = (times: number) =>
      Effect.gen(function* () {
        const { note } = yield* Visits.Visits
        const all = tries + times
        for (let n = 0; n < times; n++) note(visit(id("EmailId")))
        yield* Effect.repeat(Effect.yieldNow, { until: () => tries === all })
        yield* TestClock.adjust("1 second")
      })
    yield* Effect.gen(function* () {
      yield* lose(100)
      yield* lose(50)
      assert.deepStrictEqual(logged, ["opens and clicks cannot be recorded and are lost"])
      yield* TestClock.adjust("58 seconds")
      assert.deepStrictEqual(logged.slice(1), [{ lost: 150 }])
      yield* lose(7)
      yield* TestClock.adjust("59 seconds")
      // Nothing is logged while nothing is lost.
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(logged.slice(2), [{ lost: 7 }])
      yield* lose(3)
    }).pipe(Effect.provide(Visits.layer.pipe(Layer.provide(away))), Effect.provide(Logger.layer([logger])))
    // Losses before the stop are reported too.
    assert.deepStrictEqual(logged.slice(3), ["opens and clicks cannot be recorded and are lost", { lost: 3 }])
  })

  it.effect("beyond those that may wait are dropped", function* () {
    const written: Array<string> = []
    const layer = storeThat((email) =>
      Effect.andThen(
        Effect.yieldNow,
        Effect.sync(() => written.push(email)),
      ),
    )
    const crowd = Array.from({ length: Visits.MAX_VISITS_WAITING + 100 }, (_, n) =>
      visit(id("EmailId"), { ip: `198.51.100.${n % 200}` }),
    )
    yield* noted(crowd).pipe(Effect.provide(layer))
    assert.lengthOf(written, Visits.MAX_VISITS_WAITING)
  })
})
