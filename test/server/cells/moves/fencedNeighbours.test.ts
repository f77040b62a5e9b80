import { Cells } from "@waybill/store/routing/Cells"
import * as CellSchema from "@waybill/store/cells/CellSchema"
import * as DirectoryRows from "@waybill/store/routing/directory/DirectoryRows"
import { KeyUses } from "@waybill/store/admission/KeyUses"
import { RequestLogWriter } from "@waybill/store/requests/RequestLogWriter"
import { inCell } from "@waybill/store/routing/CurrentCell"
import { Clock, Duration, Effect, Exit, Fiber, Scope } from "effect"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, layer } from "../../../support/effectTest.ts"
import * as Database from "../../../support/postgres/Database.ts"
import { otherClient } from "../../../support/postgres/otherClient.ts"
import { HttpWorld } from "../../../support/world/HttpWorld.ts"
import * as NewIds from "../../../../apps/server/src/process/NewIds.ts"
import * as World from "../../../support/world/World.ts"
import { TIMEOUT } from "../support.ts"

/** The contract says one second; a busy machine needs longer, and a wait for the move would take 20. */
const WITHIN_MS = 5_000

const callOf = (account_id: string, api_key_id: string, id: string) => ({
  account_id,
  id,
  method: "POST",
  path: "/v1/noted",
  query: "",
  status: 422,
  reason: "invalid",
  api_key_id,
  user_id: null,
  address: "127.0.0.1",
  duration_ms: 1,
  body_bytes: 0,
  body: "",
  answer: "",
  recipients: null,
  livemode: true,
})

/** Puts an account into the last step of a move, until the returned effect runs. */
const fence = Effect.fnUntraced(function* (account_id: string, to: string) {
  const { url } = yield* Database.Fresh
  const scope = yield* Scope.fork(yield* Effect.scope)
  const mover = yield* Scope.provide(otherClient(url), scope)
  yield* mover.query("SELECT pg_advisory_lock($1::int, hashtext($2))", [DirectoryRows.MOVES, account_id])
  const step = (moving_to: string | null, name: string | null) =>
    mover.query(
      "WITH change AS (SELECT nextval('cell_change')) UPDATE account_cells SET moving_to = $2, step = $3 FROM change WHERE account_id = $1",
      [account_id, moving_to, name],
    )
  yield* step(to, "fenced")
  yield* (yield* Cells).refresh
  return Effect.andThen(step(null, null), Scope.close(scope, Exit.void))
})

/** A moving account and another one in a cell. */
const neighbours = Effect.gen(function* () {
  const sql = yield* Sql
  if ((yield* (yield* Cells).names).length === 1) {
    yield* CellSchema.make("cell_b")
    yield* CellSchema.make("cell_c")
  }
  const [moving, other] = [yield* World.accountIn("cell_b"), yield* World.accountIn("cell_b")]
  const [movingKey, key, admin] = [yield* World.key(moving), yield* World.key(other), yield* World.key(other)]
  return { sql, moving, other, movingKey, key, admin, world: yield* HttpWorld }
})

layer(HttpWorld.layer({ requestLog: true }), { excludeTestServices: true, ...TIMEOUT })(
  "an account in the last step of its move",
  (it) => {
    // threat: moved-accounts
    it.effect("delays the revocation of no other account's requests", function* () {
      const { admin, key, moving, movingKey, world } = yield* neighbours
      const path = "/v1/events?types=email.clicked&wait=20s"
      const wait = ({ secret }: { readonly secret: string }) =>
        Effect.forkChild(world.request("GET", path, { key: secret }))
      const [itself, revoked] = [yield* wait(movingKey), yield* wait(key)]
      yield* Effect.sleep("500 millis")
      const end = yield* fence(moving, "cell_c")
      const began = yield* Clock.currentTimeMillis
      assert.strictEqual((yield* world.request("DELETE", `/v1/api-keys/${key.id}`, { key: admin.secret })).status, 200)
      assert.strictEqual((yield* Fiber.join(revoked)).status, 401)
      assert.isBelow((yield* Clock.currentTimeMillis) - began, WITHIN_MS)
      assert.isUndefined(itself.pollUnsafe())
      yield* end
    })

    // threat: moved-accounts
    it.effect("delays neither the log of others' calls nor the last uses of their keys, and loses none", function* () {
      const { key, moving, movingKey, other, sql } = yield* neighbours
      const [uses, writer] = [yield* KeyUses, yield* RequestLogWriter]
      const flush = Effect.andThen(uses.flush, writer?.flush ?? Effect.void)
      const end = yield* fence(moving, "cell_c")
      for (const [account_id, { id }] of [
        [moving, movingKey],
        [other, key],
      ] as const) {
        const call = callOf(account_id, id, yield* NewIds.newId("RequestId"))
        writer?.note(call, () => call, false)
        uses.note(account_id, id, Date.now())
      }
      const seen = (account_id: string) =>
        inCell(
          "cell_b",
          Effect.map(
            Effect.orDie(sql<{ readonly calls: number; readonly uses: number }>`
              SELECT (SELECT count(*) FROM request_log WHERE account_id = ${account_id} AND path = '/v1/noted')::int AS calls,
                (SELECT count(*) FROM api_key_uses WHERE account_id = ${account_id})::int AS uses`),
            ([row]) => row,
          ),
        )
      assert.strictEqual((yield* Effect.timeoutOption(flush, Duration.seconds(5)))._tag, "Some")
      assert.deepStrictEqual(yield* seen(other), { calls: 1, uses: 1 })
      assert.deepStrictEqual(yield* seen(moving), { calls: 0, uses: 0 })
      yield* end
      yield* (yield* Cells).refresh
      yield* flush
      assert.deepStrictEqual(yield* seen(moving), { calls: 1, uses: 1 })
    })
  },
)
