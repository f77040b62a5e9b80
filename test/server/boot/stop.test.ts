import { EventStore } from "@waybill/store/commit/EventStore"
import { Processes } from "@waybill/store/outbox/Processes"
import { Context, Duration, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { Sql } from "@waybill/store/postgres/Sql"
import * as Server from "../../../apps/server/src/http/Server.ts"
import * as Stop from "../../../apps/server/src/process/Stop.ts"
import * as Pipeline from "../../../apps/server/src/worker/Pipeline.ts"
import * as Visits from "../../../apps/server/src/links/Visits.ts"
import { assert, describe, it, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { id } from "../../support/history.ts"

const stopping = Effect.gen(function* () {
  const ends: Array<string> = []
  const { stop } = yield* Effect.provide(
    Effect.map(Stop.Stop, (stop) => ({ stop })),
    Stop.layer(Effect.sync(() => void ends.push("overdue"))),
  )
  return { stop, ends }
})

/** A part of the service that runs until it is stopped, and records its end. */
const part = <A, E, R>(build: Effect.Effect<A, E, R | Scope.Scope>, stop: Context.Service.Shape<typeof Stop.Stop>) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const built = yield* build.pipe(Scope.provide(scope), Effect.provideService(Stop.Stop, stop))
    return { built, close: Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true }) }
  })

const seconds = (...all: ReadonlyArray<Duration.Input>) =>
  all.map((each) => Duration.toSeconds(each)).reduce((sum, each) => sum + each)

describe("a stop", () => {
  it("finishes within the process manager's timeout", () => {
    const { GIVE_BACK_WITHIN, PARTIAL_RESULTS_WITHIN: LAST_WORDS_WITHIN, STOP_WITHIN } = Pipeline
    const latest = seconds(Stop.LATEST_STOP)
    assert.isBelow(seconds(STOP_WITHIN, LAST_WORDS_WITHIN, GIVE_BACK_WITHIN), latest)
    assert.isBelow(seconds(Visits.STOP_WITHIN), latest)
    assert.isBelow(seconds(Server.GRACE), seconds(Visits.STOP_WITHIN))
    // Kubernetes kills a process after 30 seconds unless it is told otherwise.
    assert.isBelow(latest, 30)
  })

  it.effect("is aborted once when it takes too long", function* () {
    const { ends, stop } = yield* stopping
    yield* stop.begin
    yield* TestClock.adjust("20 seconds")
    yield* stop.begin
    yield* TestClock.adjust("8 seconds")
    assert.deepStrictEqual(ends, [])
    yield* TestClock.adjust("30 seconds")
    assert.deepStrictEqual(ends, ["overdue"])
  })

  it.effect("gives queued visits the time that requests left over", function* () {
    const { stop } = yield* stopping
    const hangs = Layer.mock(EventStore)({ transact: (() => Effect.never) as never })
    const { built, close } = yield* part(Layer.build(Layer.provide(Visits.layer, hangs)), stop)
    Context.get(built, Visits.Visits).note({
      mail: { account_id: id("AccountId"), email_id: id("EmailId") },
      url: null,
      user_agent: null,
      ip: "203.0.113.9",
      at: "2026-11-21T09:00:00.000Z" as Visits.Visit["at"],
    })
    yield* stop.begin
    yield* TestClock.adjust("25 seconds")
    const closing = yield* close
    yield* TestClock.adjust("1900 millis")
    assert.isUndefined(closing.pollUnsafe())
    yield* TestClock.adjust("100 millis")
    yield* Fiber.join(closing)
  })
})

layer(Database.layerFresh)("a stop", (it) => {
  it.effect("gives deliveries the time that other parts left over", function* () {
    const { stop } = yield* stopping
    const sql = yield* Sql
    yield* Effect.orDie(sql`
        INSERT INTO outbox (id, account_id, kind, stream_id, available_at, ready, payload)
        VALUES ('slow', 'acc', 'domain_check', 'slow', now(), true, '{}')`)
    const processes = Processes.of({
      id: "prc_stops",
      isVisible: () => true,
      trustedSince: () => -Infinity,
      recordWorkers: () => Effect.void,
    })
    const { built, close } = yield* part(
      Pipeline.make({ kind: "domain_check", prepare: () => Effect.succeed(() => Effect.never) }),
      stop,
    ).pipe(Effect.provideService(Processes, processes), Effect.provide(Layer.mock(EventStore)({})))
    yield* Effect.promise(async () => {
      while (built.inFlight() === 0) await new Promise((resolve) => setImmediate(resolve))
    })
    yield* stop.begin
    yield* TestClock.adjust("5 seconds")
    const closing = yield* close
    yield* TestClock.adjust("19 seconds")
    assert.isUndefined(closing.pollUnsafe())
    yield* TestClock.adjust("1 second")
    yield* Fiber.join(closing)
    const left = yield* Effect.orDie(sql`SELECT id FROM outbox WHERE lease_token IS NOT NULL`)
    assert.deepStrictEqual(left, [])
  })
})
