import * as RateWindows from "@waybill/store/admission/RateWindows"
import * as ServerCell from "@waybill/store/cells/ServerCell"
import * as AccountMove from "@waybill/store/moves/AccountMove"
import * as Databases from "@waybill/store/routing/Databases"
import { Duration, Effect } from "effect"
import { PrometheusMetrics } from "effect/observability"
import * as DatabaseMetrics from "../../../../apps/server/src/metrics/Database.ts"
import * as CellServers from "../../../support/cells/servers.ts"
import { assert, layer } from "../../../support/effectTest.ts"
import * as World from "../../../support/world/World.ts"
import { senderIn } from "../support.ts"

const TIMEOUT = { timeout: 120_000 }

layer(World.layer, { excludeTestServices: true })("a cell with a server of its own", (it) => {
  it.effect(
    "has metrics of its own: whether it answers, its rate, what waits there and how far it is behind",
    function* () {
      const server = yield* CellServers.make
      yield* ServerCell.make("cell_m", server.url())
      const sender = yield* senderIn("cell_m")
      yield* World.send(sender)
      const of = Effect.map(PrometheusMetrics.format(), (text) => (name: string) => {
        const [, value] = new RegExp(`^${name}\\{cell="cell_m"\\} (\\S+)$`, "mu").exec(text) ?? []
        return Number(value)
      })
      yield* yield* DatabaseMetrics.make(10)
      const well = yield* of
      assert.deepStrictEqual([well("waybill_cell_up"), well("waybill_cell_waiting")], [1, 1])
      assert.isAbove(well("waybill_cell_events_per_second"), 0)
      assert.isAtLeast(well("waybill_cell_lag_seconds"), 0)
      yield* server.stop
      yield* yield* DatabaseMetrics.make(10)
      assert.strictEqual((yield* of)("waybill_cell_up"), 0)
    },
    TIMEOUT,
  )

  it.effect(
    "gets the windows of a day of an account that moves there, so that a move begins none anew",
    function* () {
      yield* ServerCell.make("cell_w", (yield* CellServers.make).url())
      const account_id = yield* World.account()
      const take = Databases.ofAccount(account_id, RateWindows.takeOfDay(`${account_id}/forwards`, 6, 10))
      assert.isUndefined(yield* take)
      // No other process has to notice the move.
      yield* AccountMove.move(account_id, "cell_w", { noticedAfter: Duration.millis(100) })
      assert.isNumber(yield* take)
    },
    TIMEOUT,
  )
})
