import * as CellSchema from "@waybill/store/cells/CellSchema"
import * as PositionNumbers from "@waybill/store/cells/PositionNumbers"
import * as ServerCell from "@waybill/store/cells/ServerCell"
import * as AccountMove from "@waybill/store/moves/AccountMove"
import * as CellStates from "@waybill/store/operations/CellStates"
import { inCell } from "@waybill/store/routing/CurrentCell"
import { Sql } from "@waybill/store/postgres/Sql"
import { Duration, Effect, Exit, Layer, Redacted } from "effect"
import * as CellServers from "../../../support/cells/servers.ts"
import { assert, layer } from "../../../support/effectTest.ts"
import * as SmtpServer from "../../../support/mail/smtpServer.ts"
import * as Database from "../../../support/postgres/Database.ts"
import * as Standby from "../../../support/postgres/Standby.ts"
import * as World from "../../../support/world/World.ts"
import { senderIn } from "../support.ts"

/** Each test starts servers. */
const TIMEOUT = { timeout: 600_000 }
const DELIVERED = ["EmailQueued", "EmailDelivered"]
const PER_SENDER = 10
/** No other process has to notice a move. */
const ALONE = { noticedAfter: Duration.millis(100) }

const positionsIn = (cell: string) =>
  inCell(
    cell,
    Effect.flatMap(Sql, (sql) =>
      Effect.map(sql<{ readonly position: bigint }>`SELECT position FROM events ORDER BY position`, (rows) =>
        rows.map(({ position }) => Number(position)),
      ),
    ),
  )

const sendMany = (sender: World.SendingDomain) =>
  Effect.forEach(Array.from({ length: PER_SENDER }), () => World.send(sender), { concurrency: "unbounded" })

/** Waits until mail is refused, or accepted, and returns the last outcome. */
const sendUntil = (sender: World.SendingDomain, isOk: boolean) =>
  World.until(Effect.exit(World.send(sender)), (exit) => Exit.isSuccess(exit) === isOk)

layer(World.layer, { excludeTestServices: true, timeout: "240 seconds" })("cells on servers of their own", (it) => {
  it.effect(
    "send and deliver beside each other, and one that is away delays only its accounts",
    function* () {
      const servers = [yield* CellServers.make, yield* CellServers.make] as const
      yield* ServerCell.make("cell_b", servers[0].url())
      yield* ServerCell.make("cell_c", servers[1].url())
      const smtp = yield* SmtpServer.listen()
      const { url } = yield* Database.Fresh
      yield* Layer.build(World.worker(url, { relay: World.relay(smtp) }))

      const cells = ["public", "cell_b", "cell_c"] as const
      const senders = yield* Effect.forEach(cells, (cell) => senderIn(cell))
      const sent = (yield* Effect.forEach(senders, sendMany, { concurrency: "unbounded" })).flat()
      yield* Effect.forEach(sent, (ref) => World.settled(ref), { concurrency: "unbounded" })
      for (const ref of sent) assert.deepStrictEqual(yield* World.timeline(ref), DELIVERED)
      assert.lengthOf(smtp.mails, sent.length)

      // Each event of the installation has a position of its own, by which it is known wherever its account moves.
      const positions = yield* Effect.forEach(cells, positionsIn)
      assert.strictEqual(new Set(positions.flat()).size, positions.flat().length)
      for (const [nth, ofCell] of positions.entries())
        for (const position of ofCell.slice(-2 * PER_SENDER)) assert.strictEqual(position % PositionNumbers.STEP, nth)

      const [, ofB, ofC] = senders
      assert(ofB !== undefined && ofC !== undefined)
      yield* servers[0].stop
      const refused = yield* sendUntil(ofB, false)
      const others = [...(yield* sendMany(ofC)), ...(yield* sendMany(senders[0] ?? ofC))]
      yield* Effect.forEach(others, (ref) => World.settled(ref), { concurrency: "unbounded" })
      for (const ref of others) assert.deepStrictEqual(yield* World.timeline(ref), DELIVERED)
      assert.isTrue(Exit.isFailure(refused))
      yield* servers[0].start
      yield* sendUntil(ofB, true)
      const again = yield* sendMany(ofB)
      yield* Effect.forEach(again, (ref) => World.settled(ref), { concurrency: "unbounded" })
      // Nothing that was acknowledged is lost.
      for (const ref of sent) assert.deepStrictEqual(yield* World.timeline(ref), DELIVERED)
    },
    TIMEOUT,
  )

  it.effect(
    "use no table of home in a commit, a delivery or an admission",
    function* () {
      const server = yield* CellServers.make
      yield* ServerCell.make("cell_d", server.url())
      const sql = yield* Sql
      const tables = yield* inCell(
        "cell_d",
        sql<{ readonly name: string }>`
        SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'`,
      )
      const names = tables.map(({ name }) => name)
      for (const name of ["users", "account_cells", "account_names", "cells", "source_counts"])
        assert.notInclude(names, name)
      for (const name of ["events", "outbox", "rate_windows", "processes"]) assert.include(names, name)
    },
    TIMEOUT,
  )

  it.effect(
    "may have the name of a removed cell, in whose place no process takes another one",
    function* () {
      const sql = yield* Sql
      const database = inCell("cell_f", sql<{ readonly name: string }>`SELECT current_database() AS name`)
      const { url } = yield* Database.Fresh
      const nameOf = (of: Redacted.Redacted) => new URL(Redacted.value(of)).pathname.slice(1)
      for (const [nth, server] of [yield* CellServers.make, undefined, yield* CellServers.make].entries()) {
        if (nth > 0) assert.isTrue(yield* CellStates.removeEmpty("cell_f"))
        yield* server === undefined ? CellSchema.make("cell_f") : ServerCell.make("cell_f", server.url())
        assert.deepStrictEqual(yield* database, [{ name: nameOf(server?.url() ?? url) }])
        const sender = yield* senderIn("cell_f", "again.test")
        const sent = yield* World.send(sender)
        const other = World.timeline(sent).pipe(Effect.provide(Layer.fresh(World.services(url))))
        assert.deepStrictEqual(yield* other, ["EmailQueued"])
        yield* AccountMove.move(sender.account_id, "public", ALONE)
      }
    },
    TIMEOUT,
  )

  it.effect(
    "follow a promoted standby by one change of address",
    function* () {
      const server = yield* CellServers.make
      yield* ServerCell.make("cell_e", server.url())
      const smtp = yield* SmtpServer.listen()
      const { url } = yield* Database.Fresh
      yield* Layer.build(World.worker(url, { relay: World.relay(smtp) }))
      const sender = yield* senderIn("cell_e")
      const before = yield* sendMany(sender)
      yield* Effect.forEach(before, (ref) => World.settled(ref), { concurrency: "unbounded" })
      const standby = yield* Standby.follow(server.running(), server.dataDir.replace(/\/cluster$/u, ""))
      const early = yield* Effect.flip(ServerCell.readdress("cell_e", standby.url))
      assert.include(early.message, "promote it first")
      yield* server.stop
      yield* sendUntil(sender, false)
      yield* standby.promote
      yield* ServerCell.readdress("cell_e", standby.url)
      yield* sendUntil(sender, true)
      const after = yield* sendMany(sender)
      yield* Effect.forEach(after, (ref) => World.settled(ref), { concurrency: "unbounded" })
      for (const ref of [...before, ...after]) assert.deepStrictEqual(yield* World.timeline(ref), DELIVERED)
    },
    TIMEOUT,
  )
})
