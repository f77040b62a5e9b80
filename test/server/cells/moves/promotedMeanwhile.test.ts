import * as ServerCell from "@waybill/store/cells/ServerCell"
import * as AccountMove from "@waybill/store/moves/AccountMove"
import { Sql } from "@waybill/store/postgres/Sql"
import { inCell } from "@waybill/store/routing/CurrentCell"
import { Duration, Effect, Exit } from "effect"
import * as CellServers from "../../../support/cells/servers.ts"
import { assert, layer } from "../../../support/effectTest.ts"
import { faultProxy } from "../../../support/postgres/faultProxy.ts"
import { otherClient } from "../../../support/postgres/otherClient.ts"
import * as Standby from "../../../support/postgres/Standby.ts"
import * as World from "../../../support/world/World.ts"
import { senderIn } from "../support.ts"

/** Each test starts servers. */
const TIMEOUT = { timeout: 600_000 }
/** The only process is the one that moves. It waits for longer than a busy machine needs for the last rows. */
const ALONE = { noticedAfter: Duration.millis(100), longestWait: Duration.minutes(1) }
/** More transactions than a failover and a new address need. */
const MANY_TRANSACTIONS = 500

/** A cell's server with a standby that gets nothing more once it is cut off. */
const serverWithStandby = Effect.gen(function* () {
  const server = yield* CellServers.make
  const supply = yield* faultProxy(server.url())
  const standby = yield* Standby.follow(server.running(), server.dataDir.replace(/\/cluster$/u, ""), supply.url)
  return { server, standby, cutOff: Effect.sync(supply.down) }
})

const usesIn = (cell: string) =>
  inCell(
    cell,
    Effect.flatMap(Sql, (sql) =>
      Effect.map(
        sql<{ readonly uses: number; readonly xid: string }>`SELECT uses, xmin::text AS xid FROM content`,
        ([row]) => row,
      ),
    ),
  )

layer(World.layer, { excludeTestServices: true, timeout: "240 seconds" })("a standby that lacks transactions", (it) => {
  it.effect(
    "and is promoted before the last step of a move keeps what is written there by a transaction of the same number",
    function* () {
      const { cutOff, server, standby } = yield* serverWithStandby
      yield* ServerCell.make("cell_b", server.url())
      yield* ServerCell.make("cell_c", (yield* CellServers.make).url())
      const { account_id } = yield* senderIn("cell_b")
      const sql = yield* Sql
      yield* inCell(
        "cell_b",
        sql`INSERT INTO content (account_id, sha256, bytes, expires_on, uses)
          VALUES (${account_id}, sha256('x'), 'x', '2099-01-01', 1)`,
      )
      const follower = yield* otherClient(standby.url)
      yield* World.until(
        follower.query("SELECT FROM pg_class WHERE oid = to_regclass('content')"),
        (rows) => rows.length > 0,
      )
      yield* World.until(follower.query("SELECT FROM content"), ({ length }) => length > 0)
      yield* cutOff
      const take = (condition: string) =>
        `DO $$ BEGIN FOR n IN 1..${10 * MANY_TRANSACTIONS} LOOP
          EXIT WHEN ${condition}; COMMIT; END LOOP; COMMIT; END $$`
      const primary = yield* otherClient(server.url())
      yield* primary.query(take(`pg_current_xact_id() IS NOT NULL AND n > ${MANY_TRANSACTIONS}`))
      yield* inCell("cell_b", sql`UPDATE content SET uses = 5`)
      const xid = (yield* usesIn("cell_b"))?.xid
      const failOver = Effect.gen(function* () {
        yield* server.kill
        yield* standby.promote
        yield* ServerCell.readdress("cell_b", standby.url)
        yield* World.until(Effect.exit(usesIn("cell_b")), Exit.isSuccess)
        const promoted = yield* otherClient(standby.url)
        yield* promoted.query(take(`pg_current_xact_id()::text::bigint >= ${xid}::bigint - 1`))
        yield* promoted.query("UPDATE content SET uses = 7")
        assert.deepStrictEqual(yield* usesIn("cell_b"), { uses: 7, xid })
      })
      const context = yield* Effect.context<Effect.Services<typeof failOver>>()
      yield* AccountMove.move(account_id, "cell_c", {
        ...ALONE,
        report: (line) =>
          line.startsWith("waiting for the last rows")
            ? Effect.asVoid(Effect.orDie(Effect.provideContext(failOver, context)))
            : Effect.void,
      })
      assert.strictEqual((yield* usesIn("cell_c"))?.uses, 7)
    },
    TIMEOUT,
  )

  it.effect(
    "is not taken for the cell that an account has moved to, whose rows it lacks",
    function* () {
      const { cutOff, server, standby } = yield* serverWithStandby
      yield* ServerCell.make("cell_d", server.url())
      const { account_id } = yield* senderIn("public", "late.test")
      yield* senderIn("cell_d", "early.test")
      const follower = yield* otherClient(standby.url)
      yield* World.until(
        follower.query("SELECT FROM pg_class WHERE oid = to_regclass('events')"),
        (rows) => rows.length > 0,
      )
      const positions = "SELECT max(position) FROM events"
      const [primary] = yield* (yield* otherClient(server.url())).query(positions)
      yield* World.until(follower.query(positions), ([row]) => row?.["max"] === primary?.["max"])
      yield* cutOff
      yield* AccountMove.move(account_id, "cell_d", ALONE)
      yield* server.kill
      yield* standby.promote
      const { message } = yield* Effect.flip(ServerCell.readdress("cell_d", standby.url))
      assert.include(message, "is an older copy of cell_d")
    },
    TIMEOUT,
  )
})
