import * as AccountMove from "@waybill/store/moves/AccountMove"
import * as CellSchema from "@waybill/store/cells/CellSchema"
import { inCell } from "@waybill/store/routing/CurrentCell"
import { Duration } from "effect"
import { assert, layer } from "../../../support/effectTest.ts"
import { HttpWorld } from "../../../support/world/HttpWorld.ts"
import * as World from "../../../support/world/World.ts"
import { sendSlowly } from "../../../support/web/sendSlowly.ts"
import { TIMEOUT } from "../support.ts"

const DOMAIN = "slow.test"
const RECEIVING = { receiving: true }
/** Longer than a busy machine takes for the last rows, so that the move ends. */
const PATIENCE = Duration.minutes(2)

layer(HttpWorld.layer(), { excludeTestServices: true, ...TIMEOUT })("a request whose body is slow", (it) => {
  it.effect("is to be sent again if its account has moved meanwhile, and finds it in the new cell then", function* () {
    const { request, url } = yield* HttpWorld
    for (const cell of ["cell_b", "cell_c"]) yield* CellSchema.make(cell)
    const account_id = yield* World.accountIn("cell_b")
    const { secret: key } = yield* World.key(account_id)
    yield* inCell("cell_b", World.verifiedDomain(DOMAIN, account_id))
    const path = `/v1/domains/${DOMAIN}`
    const move = AccountMove.move(account_id, "cell_c", { longestWait: PATIENCE })
    const answer = yield* sendSlowly(url, path, key, JSON.stringify(RECEIVING), move, "PATCH")
    assert.deepStrictEqual([answer.status, answer.json.error?.reason], [503, "unavailable"])
    assert.strictEqual((yield* request("PATCH", path, { key, body: RECEIVING })).status, 200)
  })
})
