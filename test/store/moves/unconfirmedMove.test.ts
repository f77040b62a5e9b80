import * as CellSchema from "@waybill/store/cells/CellSchema"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as StoreDatabase from "@waybill/store/database/Database"
import * as AccountMove from "@waybill/store/moves/AccountMove"
import { Sql } from "@waybill/store/postgres/Sql"
import { Cells } from "@waybill/store/routing/Cells"
import { inCell } from "@waybill/store/routing/CurrentCell"
import * as EmailStatsFollower from "@waybill/store/statistics/EmailStatsFollower"
import { Duration, Effect, Layer } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { faultProxy } from "../../support/postgres/faultProxy.ts"
import * as World from "../../support/world/World.ts"
import { send } from "../commit/commits.ts"

/** The only process is the one that moves. */
const ALONE = { noticedAfter: Duration.millis(100) }
/** Part of the statement by which a switch names the new cell. */
const ARRIVES = "SET left_cell = cell"
const MAILS = 20

const Store = EventStore.layer().pipe(Layer.provideMerge(Database.layerFresh))

/** An account with mail that nothing has counted yet. */
const sender = Effect.gen(function* () {
  const { transact } = yield* EventStore
  const account_id = yield* World.account()
  for (let nth = 0; nth < MAILS; nth++) yield* Effect.orDie(transact(send(account_id)))
  return account_id
})

layer(Store, { excludeTestServices: true })("a move", (it) => {
  it.effect("whose switch is committed and not confirmed is continued, and its mail goes on", function* () {
    yield* CellSchema.make("cell_b")
    const account_id = yield* sender
    const { url } = yield* Database.Fresh
    const proxy = yield* faultProxy(url)
    proxy.injectInto(ARRIVES, "after")
    const { message } = yield* Effect.flip(AccountMove.move(account_id, "cell_b", ALONE)).pipe(
      Effect.provide(StoreDatabase.layer({ url: proxy.url })),
    )
    assert.strictEqual(proxy.struck(), 1)
    assert.match(message, /its end was not confirmed: run the command again$/u)
    const cells = yield* Cells
    yield* cells.refresh
    assert.strictEqual(yield* cells.of(account_id), "cell_b")
    assert.isFalse((yield* cells.notToStart("cell_b")).has(account_id))
    assert.strictEqual((yield* AccountMove.move(account_id, "cell_b", ALONE)).to, "cell_b")
    const sql = yield* Sql
    assert.lengthOf(yield* sql`SELECT FROM events WHERE account_id = ${account_id}`, 0)
  })

  it.effect("counts what followers have left before requests of the account wait", function* () {
    yield* CellSchema.make("cell_c")
    const account_id = yield* sender
    const sql = yield* Sql
    const counted = inCell(
      "public",
      Effect.orDie(sql<{ readonly is_counted: boolean }>`
        SELECT position >= (SELECT max(position) FROM events WHERE account_id = ${account_id}) AS is_counted
        FROM followers WHERE name = ${EmailStatsFollower.follower.name}`),
    )
    const seen: Array<unknown> = []
    const report = (line: string) =>
      line.startsWith("waiting for") ? Effect.map(counted, (rows) => void seen.push(...rows)) : Effect.void
    yield* AccountMove.move(account_id, "cell_c", { ...ALONE, report })
    assert.deepStrictEqual(seen, [{ is_counted: true }])
  })
})
