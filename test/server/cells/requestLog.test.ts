import * as CellSchema from "@waybill/store/cells/CellSchema"
import { RequestLogWriter } from "@waybill/store/requests/RequestLogWriter"
import { Sql } from "@waybill/store/postgres/Sql"
import { inCell } from "@waybill/store/routing/CurrentCell"
import { Effect } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import { HttpWorld } from "../../support/world/HttpWorld.ts"
import * as World from "../../support/world/World.ts"
import { countIn } from "./support.ts"

/** Sum of a cell, of all its accounts. */
const keptOfCell = Effect.flatMap(Sql, (sql) =>
  Effect.orDie(sql`SELECT kept_rows::int FROM request_log_counts WHERE account_id = ''`),
)

layer(HttpWorld.layer({ requestLog: true }), { excludeTestServices: true })("the request log", (it) => {
  it.effect("has the calls of an account in the cell of the account", function* () {
    yield* CellSchema.make("cell_b")
    const world = yield* HttpWorld
    const { secret } = yield* World.key(yield* World.accountIn("cell_b"))
    const { secret: ofFirst } = yield* World.key(yield* World.accountIn("public"))
    const isAbsent = { body: { from: "hi@acme.test", to: "ana@example.org", subject: "Hi", text: "Hi" } }
    for (const key of [secret, secret, ofFirst]) yield* world.request("POST", "/v1/email/send", { key, ...isAbsent })
    yield* World.until(
      Effect.andThen(
        Effect.flatMap(RequestLogWriter, (writer) => writer?.flush ?? Effect.void),
        Effect.all([countIn("cell_b", "request_log"), countIn("public", "request_log")]),
      ),
      ([inB, inFirst]) => inB === 2 && inFirst === 1,
    )
    for (const [cell, calls] of [
      ["cell_b", 2],
      ["public", 1],
    ] as const)
      assert.deepStrictEqual(yield* inCell(cell, keptOfCell), [{ kept_rows: calls }])
    const { json } = yield* world.request("GET", "/v1/requests", { key: secret })
    assert.lengthOf(json.data, 2)
  })
})
