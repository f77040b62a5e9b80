import * as Id from "@waybill/domain/values/Id"
import * as RequestLogBounds from "@waybill/store/requests/RequestLogBounds"
import * as RequestLogDays from "@waybill/store/requests/RequestLogDays"
import * as RequestLogWriter from "@waybill/store/requests/RequestLogWriter"
import type { Row } from "@waybill/store/requests/RequestRow"
import { Clock, Context, Effect, Layer, Metric, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { linesWhile } from "../observability/linesWhile.ts"
import { layerFromMiddle, MIDDLE } from "../../support/WallClock.ts"
import { HttpWorld, signUp } from "../../support/world/HttpWorld.ts"

const DAY_MS = 86_400_000

const rowOf = (account_id: string, daysAgo: number, now: number): Row => ({
  account_id,
  id: Id.lowest("RequestId", now - daysAgo * DAY_MS),
  method: "GET",
  path: "/v1/domains",
  query: "",
  status: 200,
  reason: null,
  api_key_id: null,
  user_id: null,
  address: "",
  duration_ms: 1,
  body_bytes: 0,
  body: "",
  answer: "",
  recipients: null,
  livemode: true,
})

const callerOf = (account_id: string, api_key_id: string | null = null) => ({ account_id, api_key_id, user_id: null })

/** Returns how many calls were left out of the log so far, by cause. */
const leftOut = Effect.map(
  Metric.snapshot,
  (all) =>
    new Map(
      all.flatMap((each) =>
        each.type === "Counter" && each.id === "waybill_requests_not_logged_total"
          ? [[each.attributes?.["cause"], Number(each.state.count)] as const]
          : [],
      ),
    ),
)

const leftOutSince = (before: ReadonlyMap<string | undefined, number>) =>
  Effect.map(leftOut, (after) =>
    ["many_accepted", "buffer_full", "beyond_bounds", "write_failed"].map(
      (cause) => (after.get(cause) ?? 0) - (before.get(cause) ?? 0),
    ),
  )

/** Builds a writer of its own, as another process has it. */
const builtWriter = <R>(writerLayer: Layer.Layer<never, never, R>) =>
  Effect.map(Layer.build(writerLayer), (context) => Context.get(context, RequestLogWriter.RequestLogWriter)).pipe(
    Effect.flatMap((writer) => (writer === undefined ? Effect.die("requests are not logged") : Effect.succeed(writer))),
  )

/** A writer whose database is away and whose clock stands. */
const withoutDatabase = builtWriter(RequestLogWriter.layer(Redacted.make("postgres://nobody@127.0.0.1:1/none"))).pipe(
  Effect.provide(TestClock.layer()),
)

const flush = Effect.flatMap(
  RequestLogWriter.RequestLogWriter,
  (writer) => writer?.flush ?? Effect.die("requests are not logged"),
)

const World = HttpWorld.layer({ requestLog: true }).pipe(Layer.provideMerge(layerFromMiddle))

layer(World, { excludeTestServices: true, timeout: "90 seconds" })("the writer of the request log", (it) => {
  it.effect("leaves calls out when too many wait or the database is away, and counts them", function* () {
    const { account } = yield* signUp()
    const writer = yield* withoutDatabase
    const before = yield* leftOut
    let made = 0
    const note = (nth: number, isAccepted: boolean) => {
      // Calls of many keys and accounts, so that the bounds of none are reached.
      const caller = { account_id: `${account}${nth % 10}`, api_key_id: String(nth % 20), user_id: null }
      writer.note(
        caller,
        () => {
          made++
          return { ...rowOf(account, 0, Date.parse(MIDDLE)), ...caller }
        },
        isAccepted,
      )
    }
    for (let nth = 0; nth < RequestLogWriter.MAX_ROWS_WAITING + 5; nth++) note(nth, false)
    note(0, true)
    // A call beyond the limit is not even masked.
    assert.strictEqual(made, RequestLogWriter.MAX_ROWS_WAITING)
    assert.deepStrictEqual(yield* linesWhile(true, writer.flush), [])
    note(1, false)
    assert.lengthOf(yield* linesWhile(false, writer.flush), 1)
    assert.deepStrictEqual(yield* leftOutSince(before), [0, 6, 0, RequestLogWriter.MAX_ROWS_WAITING + 1])
  })

  it.effect("has a burst of accepted calls, then as many as cost little, and every refused one", function* () {
    const { account } = yield* signUp()
    const writer = yield* withoutDatabase
    const { ACCEPTED_PER_FLUSH, MAX_ACCEPTED_AT_ONCE } = RequestLogWriter
    /** Returns how many of these calls are logged, and how many accepted ones are left out. */
    const note = Effect.fnUntraced(function* (accepted: number, refused: number) {
      const before = yield* leftOut
      let made = 0
      for (let nth = 0; nth < accepted + refused; nth++)
        writer.note(
          callerOf(account),
          () => {
            made++
            return rowOf(account, 0, Date.parse(MIDDLE))
          },
          nth < accepted,
        )
      yield* writer.flush
      return [made, (yield* leftOutSince(before))[0]]
    })
    assert.deepStrictEqual(yield* note(MAX_ACCEPTED_AT_ONCE + 7, 3), [MAX_ACCEPTED_AT_ONCE + 3, 7])
    assert.deepStrictEqual(yield* note(ACCEPTED_PER_FLUSH + 2, 4), [ACCEPTED_PER_FLUSH + 4, 2])
    // What is not used is kept for later.
    assert.deepStrictEqual(yield* note(0, 0), [0, 0])
    assert.deepStrictEqual(yield* note(3 * ACCEPTED_PER_FLUSH, 0), [2 * ACCEPTED_PER_FLUSH, ACCEPTED_PER_FLUSH])
  })

  it.effect(
    "shares the bounds of a day with other processes, keeps them over a restart, and tells its count",
    function* () {
      const { account, call, key_id, keyWith, world } = yield* signUp()
      const { id, secret: bound } = yield* world.key(account, { domain: "acme.test" })
      yield* call("GET", "/v1/account")
      yield* flush
      const now = yield* Clock.currentTimeMillis
      const left = 2
      yield* Effect.orDie(world.sql`
        UPDATE request_log_counts SET kept_rows = ${RequestLogBounds.MAX_KEY_ROWS_PER_DAY - left}
        WHERE account_id = ${account} AND caller_id = ${key_id}`)
      const { url } = yield* Database.Fresh
      const others = yield* Effect.forEach([1, 2], () => builtWriter(Layer.fresh(RequestLogWriter.layer(url))))
      const row = { ...rowOf(account, 0, now), path: "/v1/full", status: 404, api_key_id: key_id }
      for (const [nth, writer] of others.entries())
        for (let of = 0; of < 3; of++)
          writer.note(
            callerOf(account, key_id),
            () => ({ ...row, id: Id.lowest("RequestId", now - nth * 10 - of) }),
            false,
          )
      yield* Effect.forEach(others, (writer) => writer.flush, { concurrency: "unbounded" })
      const reader = yield* keyWith({})
      const list = (key: string) =>
        Effect.map(world.request("GET", "/v1/requests?path=/v1/full", { key }), ({ json }) => [
          json.data.length,
          json.not_kept,
        ])
      const date = new Date(now).toISOString().slice(0, 10)
      yield* Effect.forEach(others, (writer) => writer.flush)
      assert.deepStrictEqual(yield* list(reader), [left, [{ date, count: 4 }]])
      // A process that begins later knows it too. The calls of another key are kept.
      const [later] = yield* Effect.forEach([1], () => builtWriter(Layer.fresh(RequestLogWriter.layer(url))))
      later?.note(callerOf(account, key_id), () => ({ ...row, id: Id.lowest("RequestId", now - 100) }), false)
      later?.note(
        callerOf(account, id),
        () => ({ ...row, api_key_id: id, id: Id.lowest("RequestId", now - 101) }),
        false,
      )
      yield* later?.flush ?? Effect.void
      yield* later?.flush ?? Effect.void
      assert.deepStrictEqual(yield* list(reader), [left + 1, [{ date, count: 5 }]])
      assert.deepStrictEqual(yield* list(bound), [1, []])
    },
  )

  it.effect(
    "keeps days as tables, which are made for the calls of any day and dropped when they are old",
    function* () {
      const { account, world } = yield* signUp()
      const writer = yield* RequestLogWriter.RequestLogWriter
      const now = yield* Clock.currentTimeMillis
      const row = (daysAgo: number) => rowOf(account, daysAgo, now)
      for (const daysAgo of [20, 8, 7, 0]) writer?.note(callerOf(account), () => row(daysAgo), false)
      yield* flush
      const kept = Effect.map(
        Effect.orDie(world.sql<{ readonly id: string }>`
          SELECT id FROM request_log WHERE account_id = ${account} AND path = '/v1/domains' AND address = '' ORDER BY id`),
        (rows) => rows.map(({ id }) => id),
      )
      const ids = [20, 8, 7, 0].map((daysAgo) => row(daysAgo).id)
      assert.deepStrictEqual(yield* kept, ids)
      const days = yield* RequestLogDays.keep(7)
      assert.lengthOf(days.dropped, 2)
      assert.lengthOf(days.made, RequestLogDays.DAYS_AHEAD)
      assert.deepStrictEqual(yield* kept, ids.slice(2))
      assert.deepStrictEqual(yield* RequestLogDays.keep(7), { made: [], dropped: [] })
      const counted = yield* Effect.orDie(world.sql<{ readonly day: string }>`
          SELECT day::text FROM request_log_counts WHERE account_id = ${account} AND caller_id = '' ORDER BY day`)
      assert.deepStrictEqual(
        counted.map(({ day }) => day),
        [7, 0].map((daysAgo) => new Date(now - daysAgo * DAY_MS).toISOString().slice(0, 10)),
      )
    },
  )
})
