import { Effect } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import { longestTurn } from "../../support/longestTurn.ts"
import { HttpWorld, signUp } from "../../support/world/HttpWorld.ts"
import { buildLog, problemOf } from "../../support/world/logTree.ts"

/** As many events as a mail can have by opens and clicks, and its first ones. */
const EVENTS = 2_002
const SCHEDULED_MS = 3_600_000
/** One piece of work, with collections of garbage. In one turn, all of it takes more than five times as much. */
const MAX_TURN_MS = 120

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "240 seconds" })("a receipt of many events", (it) => {
  it.effect.each(["application/json", "application/cose"])("leaves time to other requests, as %s", (accept) =>
    Effect.gen(function* () {
      const { call, send, world } = yield* signUp({ domains: ["acme.test"] })
      const at = (ms: number) => new Date(Date.now() + ms).toISOString()
      const id = yield* send({ scheduled_at: at(SCHEDULED_MS) })
      yield* call("PATCH", `/v1/email/${id}`, { scheduled_at: at(2 * SCHEDULED_MS) })
      yield* world.sql`
        INSERT INTO events (account_id, stream_id, version, stream, type, event_id, data, meta, recorded_at, packed)
        SELECT account_id, stream_id, nth, stream, type, left(event_id, 26) || lpad(nth::text, 4, '0'), data, meta, recorded_at, packed
        FROM events, generate_series(3, ${EVENTS}::int) AS nth WHERE stream_id = ${id} AND version = 2`
      yield* buildLog
      const longest = longestTurn()
      const { json, status } = yield* call("GET", `/v1/email/${id}/receipt?redact=recipient`, undefined, { accept })
      const turn = longest()
      assert.strictEqual(status, 200)
      assert.isBelow(turn, MAX_TURN_MS)
      if (accept !== "application/json") return
      assert.strictEqual(json.events.length, EVENTS)
      assert.isUndefined(yield* problemOf(json))
    }),
  )
})
