import { EventStore } from "@waybill/store/commit/EventStore"
import * as AccountMove from "@waybill/store/moves/AccountMove"
import * as LeftAccounts from "@waybill/store/moves/LeftAccounts"
import * as ServerCell from "@waybill/store/cells/ServerCell"
import { Cells } from "@waybill/store/routing/Cells"
import { inCell } from "@waybill/store/routing/CurrentCell"
import { Sql } from "@waybill/store/postgres/Sql"
import type { AccountId } from "@waybill/domain/values/Id"
import { Duration, Effect, Exit, Fiber, Layer, Redacted } from "effect"
import pg from "pg"
import * as CellServers from "../../../support/cells/servers.ts"
import { assert, layer } from "../../../support/effectTest.ts"
import * as SmtpServer from "../../../support/mail/smtpServer.ts"
import * as Database from "../../../support/postgres/Database.ts"
import { otherClient } from "../../../support/postgres/otherClient.ts"
import { NOWHERE } from "../../../support/nowhere.ts"
import * as CommandLine from "../../../support/process/CommandLine.ts"
import * as World from "../../../support/world/World.ts"
import { countIn, senderIn } from "../support.ts"

/** Each test starts servers. */
const TIMEOUT = { timeout: 600_000 }
const DELIVERED = ["EmailQueued", "EmailDelivered"]
const NOTICED = Duration.seconds(3)
/** No other process has to notice a move. */
const ALONE = { noticedAfter: Duration.millis(100) }
/** Pause behind each mail and each look at the feed while an account moves. */
const PACE = "10 millis"

const positionsOf = Effect.fnUntraced(function* (account_id: AccountId) {
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

const isLeft = (cell: string, account_id: string) =>
  inCell(
    cell,
    Effect.flatMap(Sql, (sql) =>
      Effect.map(sql`SELECT FROM left_accounts WHERE account_id = ${account_id}`, ({ length }) => length > 0),
    ),
  )

layer(World.layer, { excludeTestServices: true })("the move of an account between servers", (it) => {
  it.effect(
    "takes all its rows along while it sends, there and back, and its consumers read on",
    function* () {
      const server = yield* CellServers.make
      yield* ServerCell.make("cell_b", server.url())
      const smtp = yield* SmtpServer.listen()
      const { url } = yield* Database.Fresh
      yield* Layer.build(World.worker(url, { relay: World.relay(smtp) }))
      const [moving, other] = [yield* senderIn("public"), yield* senderIn("cell_b")]
      const { account_id } = moving
      const sent: Array<Effect.Success<ReturnType<typeof World.send>>> = []
      let isOver = false
      const send = Effect.gen(function* () {
        const exit = yield* Effect.exit(World.send(moving))
        if (Exit.isSuccess(exit)) sent.push(exit.value)
        yield* World.send(other)
      })
      // Reads the account's feed all the while, and notes what it sees.
      const seen: Array<bigint> = []
      const { feed } = yield* EventStore
      let after = 0n
      const read = Effect.gen(function* () {
        const page = yield* feed({ account_id, after })
        seen.push(...page.events.map(({ position }) => position))
        after = page.upTo > after ? page.upTo : after
      })
      const meanwhile = (work: typeof send | typeof read) =>
        Effect.forkChild(Effect.repeat(Effect.andThen(work, Effect.sleep(PACE)), { until: () => isOver }))
      const sending = yield* meanwhile(send)
      const reading = yield* meanwhile(Effect.ignore(read))
      for (const to of ["cell_b", "public"]) {
        const moved = yield* AccountMove.move(account_id, to, { noticedAfter: NOTICED })
        assert.strictEqual(moved.to, to)
        assert.strictEqual(yield* (yield* Cells).of(account_id), to)
        assert.isTrue(yield* isLeft(moved.from, account_id))
        assert.isFalse(yield* isLeft(to, account_id))
        const more = sent.length + 5
        yield* World.until(
          Effect.sync(() => sent.length),
          (count) => count >= more,
        )
      }
      isOver = true
      yield* Fiber.join(sending)
      yield* Fiber.join(reading)
      yield* Effect.forEach(sent, (ref) => World.settled(ref), { concurrency: 10 })
      for (const ref of sent) assert.deepStrictEqual(yield* World.timeline(ref), DELIVERED)
      yield* read
      const all = yield* positionsOf(account_id)
      assert.deepStrictEqual(seen, all, "no gap, no double, no inversion")
      assert.deepStrictEqual(
        all,
        all.toSorted((a, b) => (a < b ? -1 : 1)),
      )
      assert.strictEqual(yield* countIn("public", "accounts"), 1)
      assert.strictEqual(yield* countIn("cell_b", "accounts"), 1)
    },
    TIMEOUT,
  )

  it.effect(
    "is made also between servers that write times and bytes otherwise",
    function* () {
      const server = yield* CellServers.make
      const admin = yield* otherClient(server.running().adminUrl)
      const { username } = new URL(Redacted.value(server.url()))
      for (const setting of ["timezone = 'Asia/Kolkata'", "datestyle = 'SQL, DMY'", "bytea_output = 'escape'"])
        yield* admin.query(`ALTER ROLE ${pg.escapeIdentifier(username)} SET ${setting}`)
      yield* ServerCell.make("cell_f", server.url())
      const sender = yield* senderIn("public", "otherwise.test")
      const sent = yield* World.send(sender)
      for (const to of ["cell_f", "public"])
        assert.strictEqual((yield* AccountMove.move(sender.account_id, to, ALONE)).to, to)
      assert.deepStrictEqual(yield* World.timeline(sent), ["EmailQueued"])
    },
    TIMEOUT,
  )

  it.effect(
    "that dies at any line that it reports is in one cell, and is continued",
    function* () {
      const server = yield* CellServers.make
      yield* ServerCell.make("cell_c", server.url())
      const { account_id, ...sender } = yield* senderIn("public", "dies.test")
      for (let nth = 0; nth < 5; nth++) yield* World.send({ account_id, ...sender })
      const before = yield* positionsOf(account_id)
      for (let line = 1, isMoved = false; !isMoved; line++) {
        let reported = 0
        const report = () => Effect.suspend(() => (++reported === line ? Effect.die("killed") : Effect.void))
        const exit = yield* Effect.exit(AccountMove.move(account_id, "cell_c", { ...ALONE, report }))
        isMoved = Exit.isSuccess(exit)
        yield* (yield* Cells).refresh
        assert.deepStrictEqual(yield* positionsOf(account_id), before)
        assert.isTrue(Exit.isSuccess(yield* Effect.exit(World.send({ account_id, ...sender }))), `after line ${line}`)
        before.push(...(yield* positionsOf(account_id)).slice(before.length))
      }
      assert.strictEqual(yield* (yield* Cells).of(account_id), "cell_c")
    },
    TIMEOUT,
  )

  it.effect(
    "whose mover is killed once its old cell refuses it goes on there",
    function* () {
      const server = yield* CellServers.make
      yield* ServerCell.make("cell_d", server.url())
      const sender = yield* senderIn("cell_d", "killed.test")
      const { account_id } = sender
      const sql = yield* Sql
      const { refresh } = yield* Cells
      yield* sql`UPDATE account_cells SET moving_to = 'public', step = 'fenced' WHERE account_id = ${account_id}`
      yield* inCell("cell_d", sql`INSERT INTO left_accounts (account_id) VALUES (${account_id})`)
      yield* refresh
      assert.isTrue(Exit.isFailure(yield* Effect.exit(World.send(sender))))
      yield* inCell("cell_d", LeftAccounts.restore())
      yield* World.send(sender)
      const [row] = yield* sql`SELECT cell, step FROM account_cells WHERE account_id = ${account_id}`
      assert.deepStrictEqual(row, { cell: "cell_d", step: "draining" })
    },
    TIMEOUT,
  )

  it.effect(
    "is made in both directions by the command, or given up",
    function* () {
      const server = yield* CellServers.make
      yield* ServerCell.make("cell_e", server.url())
      const sender = yield* senderIn("cell_e", "command.test")
      const { account_id } = sender
      const { url } = yield* Database.Fresh
      const env = { DATABASE_URL: Redacted.value(url), WAYBILL_DATA: NOWHERE, WAYBILL_INSTANCE_KEY: World.INSTANCE_KEY }
      const move = (...words: ReadonlyArray<string>) =>
        Effect.map(
          CommandLine.typeWith(env, "accounts", "move", "--account", account_id, ...words),
          ({ errors, exit, output }) => ({ isDone: Exit.isSuccess(exit), printed: `${output}\n${errors}` }),
        )
      for (const to of ["public", "cell_e"]) {
        yield* World.send(sender)
        const { isDone, printed } = yield* move("--to", to)
        assert.isTrue(isDone, printed)
        yield* (yield* Cells).refresh
        assert.strictEqual(yield* (yield* Cells).of(account_id), to)
      }
      assert.include((yield* move()).printed, "either --to or --give-up")
      assert.include((yield* move("--give-up")).printed, "is not moving")
      const [before, inPublic] = [yield* positionsOf(account_id), yield* countIn("public", "events")]
      let lines = 0
      const report = () => Effect.suspend(() => (++lines === 3 ? Effect.die("killed") : Effect.void))
      yield* Effect.exit(AccountMove.move(account_id, "public", { ...ALONE, report }))
      const sql = yield* Sql
      yield* sql`UPDATE account_cells SET step = 'fenced' WHERE account_id = ${account_id}`
      yield* inCell("cell_e", sql`INSERT INTO left_accounts (account_id) VALUES (${account_id})`)
      assert.isAbove(yield* countIn("public", "events"), inPublic)
      const { isDone, printed } = yield* move("--give-up")
      assert.isTrue(isDone, printed)
      const [row] = yield* sql`SELECT cell, moving_to, step FROM account_cells WHERE account_id = ${account_id}`
      assert.deepStrictEqual(row, { cell: "cell_e", moving_to: null, step: null })
      assert.strictEqual(yield* countIn("public", "events"), inPublic)
      yield* (yield* Cells).refresh
      assert.deepStrictEqual(yield* positionsOf(account_id), before)
      yield* World.send(sender)
    },
    TIMEOUT,
  )
})
