import * as Livemode from "@waybill/domain/account/Livemode"
import type { PgClient } from "@effect/sql-pg"
import * as Id from "@waybill/domain/values/Id"
import type { AccountId } from "@waybill/domain/values/Id"
import { Cells } from "@waybill/store/routing/Cells"
import * as Directory from "@waybill/store/routing/directory/Directory"
import * as CellSchema from "@waybill/store/cells/CellSchema"
import { inCell } from "@waybill/store/routing/CurrentCell"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as Follower from "@waybill/store/feed/Follower"
import * as AccountMove from "@waybill/store/moves/AccountMove"
import * as LogDay from "@waybill/store/requests/LogDay"
import * as RequestLogDays from "@waybill/store/requests/RequestLogDays"
import * as EmailStatsFollower from "@waybill/store/statistics/EmailStatsFollower"
import { Duration, Effect, Exit, Fiber, Layer } from "effect"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"
import * as NewIds from "../../../apps/server/src/process/NewIds.ts"
import { send } from "../commit/commits.ts"

const Store = EventStore.layer().pipe(Layer.provideMerge(Database.layerFresh))

/** The only process is the one that moves. */
const ALONE = { noticedAfter: Duration.millis(100) }

const sendMail = (account_id: AccountId) =>
  Effect.flatMap(EventStore, ({ transact }) => Effect.orDie(transact(send(account_id))))

/** Positions of the account's events, as its feed returns them. */
const positionsOf = (account_id: AccountId) =>
  Effect.gen(function* () {
    const { feed } = yield* EventStore
    const positions: Array<bigint> = []
    for (let after = 0n, more = true; more;) {
      const page = yield* feed({ account_id, after })
      positions.push(...page.events.map(({ position }) => position))
      more = page.more
      after = page.upTo
    }
    return positions
  })

const countedMails = (account_id: AccountId) =>
  Effect.gen(function* () {
    const sql = yield* Sql
    while ((yield* Follower.step(EmailStatsFollower.follower)).events > 0);
    const [row] = yield* sql<{ readonly count: number }>`
      SELECT coalesce(sum(count), 0)::int AS count FROM email_stats
      WHERE account_id = ${account_id} AND measure = 'accepted' AND tag = ''`
    return row?.count ?? 0
  })

const rowsIn = (cell: string, account_id: AccountId) =>
  inCell(
    cell,
    Effect.gen(function* () {
      const sql = yield* Sql
      const [row] = yield* sql<{ readonly count: number }>`
        SELECT count(*)::int AS count FROM events WHERE account_id = ${account_id}`
      return row?.count ?? 0
    }),
  )

layer(Store, { excludeTestServices: true })("the move of an account", (it) => {
  it.effect("takes all its rows along, while mail goes on being accepted", function* () {
    yield* CellSchema.make("cell_b")
    const [moving, other] = [yield* World.account(), yield* World.accountIn("cell_b")]
    for (let nth = 0; nth < 20; nth++) yield* Effect.all([sendMail(moving), sendMail(other)])
    yield* sendMail(Livemode.testAccountOf(moving))
    const before = yield* positionsOf(moving)
    let sent = 0
    let isOver = false
    const sending = yield* Effect.forkChild(
      Effect.repeat(
        Effect.andThen(Effect.all([sendMail(moving), sendMail(other)]), () => Effect.sync(() => sent++)),
        { until: () => isOver },
      ),
    )
    const moved = yield* AccountMove.move(moving, "cell_b", ALONE)
    const until = sent + 10
    yield* Effect.repeat(Effect.sleep("20 millis"), { until: () => sent >= until })
    isOver = true
    yield* Fiber.join(sending)
    assert.strictEqual(moved.from, "public")
    assert.strictEqual(yield* (yield* Cells).of(moving), "cell_b")
    const after = yield* positionsOf(moving)
    assert.deepStrictEqual(after.slice(0, before.length), before)
    assert.deepStrictEqual(
      after,
      after.toSorted((a, b) => (a < b ? -1 : 1)),
    )
    assert.strictEqual(after.length, before.length + sent)
    assert.strictEqual(yield* rowsIn("public", moving), 0)
    assert.strictEqual(yield* rowsIn("public", Livemode.testAccountOf(moving)), 0)
    assert.strictEqual(yield* rowsIn("cell_b", Livemode.testAccountOf(moving)), 1)
    for (const account of [moving, other])
      assert.strictEqual(
        yield* inCell("cell_b", countedMails(account)),
        (yield* positionsOf(account)).length - 1,
        `statistics of ${account}`,
      )
  })

  it.effect("goes back as well", function* () {
    yield* CellSchema.make("cell_c")
    const account = yield* World.accountIn("cell_c")
    const key = yield* World.key(account)
    yield* sendMail(account)
    yield* AccountMove.move(account, "public", ALONE)
    assert.strictEqual(yield* rowsIn("public", account), 3)
    assert.strictEqual(yield* rowsIn("cell_c", account), 0)
    yield* AccountMove.move(account, "cell_c", ALONE)
    assert.strictEqual(yield* rowsIn("cell_c", account), 3)
    assert.isString(key.secret)
  })

  it.effect("that dies at any line that it reports leaves the account in one cell, and is continued", function* () {
    yield* CellSchema.make("cell_d")
    for (let dies = 1; dies <= 4; dies++) {
      const account = yield* World.account()
      yield* sendMail(account)
      let line = 0
      const report = () => Effect.suspend(() => (++line === dies ? Effect.die("killed") : Effect.void))
      const exit = yield* Effect.exit(AccountMove.move(account, "cell_d", { ...ALONE, report }))
      assert.strictEqual(Exit.isFailure(exit), line >= dies, `line ${dies} of ${line}`)
      yield* (yield* Cells).refresh
      const { notToStart, of } = yield* Cells
      const home = yield* of(account)
      const other = home === "public" ? "cell_d" : "public"
      assert.isFalse((yield* notToStart(home)).has(account), "its mail waits for nobody")
      assert.isTrue((yield* notToStart(other)).has(account), "its rows in the other cell are not worked on")
      yield* sendMail(account)
      assert.strictEqual((yield* positionsOf(account)).length, 3)
      if (Exit.isFailure(exit)) yield* AccountMove.move(account, "cell_d", ALONE)
      yield* sendMail(account)
      assert.strictEqual((yield* positionsOf(account)).length, 4)
      assert.strictEqual(yield* rowsIn("public", account), 0)
      assert.strictEqual(yield* rowsIn("cell_d", account), 4)
    }
  })

  // threat: moved-accounts
  it.effect("that is killed in its last step is continued", function* () {
    yield* CellSchema.make("cell_h")
    const sql = yield* Sql
    const account = yield* World.account()
    yield* sendMail(account)
    const report = (line: string) => (line.startsWith("waiting") ? Effect.die("killed") : Effect.void)
    yield* Effect.exit(AccountMove.move(account, "cell_h", { ...ALONE, report }))
    // A process that is killed does not take the step back.
    yield* sql`UPDATE account_cells SET step = 'fenced' WHERE account_id = ${account}`
    yield* CellSchema.noteChange(sql)
    // Another process reads the directory when it has begun to move.
    yield* Effect.sleep(Directory.TRUSTED_FOR)
    const moved = yield* Effect.timeoutOption(AccountMove.move(account, "cell_h", ALONE), Duration.seconds(20))
    assert.strictEqual(moved._tag, "Some")
    assert.deepStrictEqual([yield* rowsIn("public", account), yield* rowsIn("cell_h", account)], [0, 2])
  })

  it.effect("reads only what has changed meanwhile while its requests wait", function* () {
    yield* CellSchema.make("cell_f")
    const account = yield* World.account()
    for (let nth = 0; nth < 60; nth++) yield* sendMail(account)
    const sql = yield* Sql
    const { count: rows } = (yield* sql<{ readonly count: number }>`
      SELECT ((SELECT count(*) FROM events WHERE account_id = ${account}) +
        (SELECT count(*) FROM content WHERE account_id = ${account}) + (SELECT count(*) FROM outbox WHERE account_id = ${account})
        )::int AS count`)[0] ?? { count: 0 }
    const idle = yield* AccountMove.move(account, "cell_f", ALONE)
    // Those of its statistics, which are counted before the switch.
    assert.isBelow(idle.rows_while_waiting, rows / 10)
    const services = yield* Effect.context<EventStore>()
    const sendOne = Effect.asVoid(sendMail(account)).pipe(Effect.provideContext(services))
    const report = (line: string) => (line.startsWith("waiting for") ? sendOne : Effect.void)
    const used = yield* AccountMove.move(account, "public", { ...ALONE, report })
    assert.isAbove(used.rows_while_waiting, 0)
    assert.isBelow(used.rows_while_waiting, rows / 4)
    assert.strictEqual(yield* rowsIn("public", account), 62)
  })

  it.effect("takes along calls of a day that began after its first rows were copied, and counted ones", function* () {
    yield* CellSchema.make("cell_i")
    const account = yield* World.account()
    const call = yield* NewIds.newId("RequestId")
    const sql = yield* Sql
    yield* sql`INSERT INTO request_log_counts VALUES (${account}, '', '2026-11-30', 5, 600, 7), ('', '', '2026-11-30', 9, 900, 9)`
    const callADayLater = Effect.andThen(
      RequestLogDays.make(LogDay.dayOf(Id.timeOf(call))),
      sql`INSERT INTO request_log (account_id, id, method, path, query, status, address, duration_ms, body_bytes, body, livemode)
        VALUES (${account}, ${call}, 'GET', '/v1/account', '', 200, '127.0.0.1', 1, 0, '', true)`,
    )
    const services = yield* Effect.context<PgClient.PgClient>()
    const report = (line: string) =>
      line.startsWith("pass 1")
        ? Effect.asVoid(Effect.orDie(Effect.provideContext(callADayLater, services)))
        : Effect.void
    yield* AccountMove.move(account, "cell_i", { ...ALONE, report })
    const calls = yield* inCell("cell_i", sql`SELECT id FROM request_log WHERE account_id = ${account}`)
    assert.deepStrictEqual(calls, [{ id: call }])
    const counted = sql`SELECT account_id, kept_rows::int AS kept, not_kept::int FROM request_log_counts`
    assert.deepStrictEqual(yield* inCell("cell_i", counted), [{ account_id: account, kept: 5, not_kept: 7 }])
    assert.deepStrictEqual(yield* counted, [{ account_id: "", kept: 9, not_kept: 9 }])
  })

  it.effect("lets requests go on when its last rows take too long, and can be run again", function* () {
    yield* CellSchema.make("cell_g")
    const account = yield* World.account()
    yield* sendMail(account)
    const impatient = { ...ALONE, longestWait: Duration.zero }
    const { message } = yield* Effect.flip(AccountMove.move(account, "cell_g", impatient))
    assert.match(
      message,
      /^the last (?:events of acc_\w+ were not counted|rows of acc_\w+ were not copied) within 0 s, .* it stays in public: run the command again/u,
    )
    yield* sendMail(account)
    assert.strictEqual(yield* rowsIn("public", account), 3)
    yield* AccountMove.move(account, "cell_g", ALONE)
    assert.strictEqual(yield* rowsIn("cell_g", account), 3)
  })

  it.effect("is refused for an account or a cell that is unknown, full, or the same", function* () {
    yield* CellSchema.make("cell_e")
    const sql = yield* Sql
    const account = yield* World.account()
    const refusal = (id: AccountId, to: string) =>
      Effect.map(Effect.flip(AccountMove.move(id, to, ALONE)), ({ message }) => message)
    assert.strictEqual(yield* refusal(account, "nowhere"), "there is no cell nowhere")
    assert.strictEqual(yield* refusal(account, "public"), `${account} is in public already`)
    const unknown = "acc_01m4w1pb2nfxtv8v2m6c1sq3dt" as AccountId
    assert.strictEqual(yield* refusal(unknown, "cell_e"), `there is no account ${unknown}`)
    yield* sql`UPDATE cells SET state = 'full' WHERE name = 'cell_e'`
    assert.strictEqual(yield* refusal(account, "cell_e"), "the cell cell_e takes no accounts: it is full")
  })
})
