import * as ServerCell from "@waybill/store/cells/ServerCell"
import * as AccountMove from "@waybill/store/moves/AccountMove"
import { Waybill } from "@waybill/client/Waybill"
import { Effect, Fiber } from "effect"
import * as Senders from "../../../support/cells/senders.ts"
import * as CellServers from "../../../support/cells/servers.ts"
import { assert, layer } from "../../../support/effectTest.ts"
import * as Database from "../../../support/postgres/Database.ts"
import * as ServiceProcess from "../../../support/world/ServiceProcess.ts"
import * as World from "../../../support/world/World.ts"
import * as WebhookReceiver from "../../../support/web/WebhookReceiver.ts"

/** The test starts two servers and a process. */
const TIMEOUT = { timeout: 600_000 }
/** Mails before and after each move. */
const SOME = 20

layer(World.layer, { excludeTestServices: true, timeout: "240 seconds" })(
  "consumers of an account that moves",
  (it) => {
    it.effect(
      "read on by feed, stream and webhooks without a gap, a double or an inversion",
      function* () {
        yield* ServerCell.make("cell_b", (yield* CellServers.make).url())
        yield* ServerCell.make("cell_c", (yield* CellServers.make).url())
        const { url } = yield* Database.Fresh
        const node = yield* ServiceProcess.start(url, { WEBHOOK_ALLOW_NETWORKS: "127.0.0.0/8" })
        const sender = yield* Senders.senderOn(node, "cell_b")
        const { account_id, get, key } = sender
        const receiver = yield* WebhookReceiver.listen()
        const added = yield* Effect.promise(() =>
          node.request("POST", "/v1/webhooks", { key, body: { url: receiver.url, events: ["email.delivered"] } }),
        )
        assert.strictEqual(added.status, 201, JSON.stringify(added.json))
        const start = (yield* get("/v1/events?limit=1000")).json.next_position as string

        const byFeed: Array<string> = []
        const byStream: Array<string> = []
        let isOver = false
        let after = start
        const readFeed = Effect.gen(function* () {
          const { json, status } = yield* get(`/v1/events?types=email.queued&limit=7&after_position=${after}`)
          if (status !== 200) return
          byFeed.push(...json.data.map(({ stream_id }: { readonly stream_id: string }) => stream_id))
          after = json.next_position
        })
        const reading = yield* Effect.forkChild(
          Effect.repeat(Effect.andThen(readFeed, Effect.sleep("20 millis")), { until: () => isOver }),
        )
        const ending = new AbortController()
        const stream = new Waybill(key, { baseUrl: node.url }).events.stream({
          after_position: start,
          types: ["email.queued"],
          signal: ending.signal,
        })
        const streaming = (async () => {
          for await (const { stream_id } of stream) byStream.push(stream_id)
        })().catch((cause: unknown) => {
          if (!ending.signal.aborted) throw cause
        })

        const load = yield* Senders.load(sender, 1)
        for (const to of ["cell_c", "public"]) {
          yield* load.goesOn(SOME)
          const moved = yield* AccountMove.move(account_id, to)
          assert.strictEqual(moved.to, to)
        }
        yield* load.goesOn(SOME)
        yield* load.stop
        assert.deepStrictEqual(load.others, [], node.output())

        const log: Array<string> = []
        for (let position = start, more = true; more;) {
          const { json } = yield* get(`/v1/events?types=email.queued&limit=1000&after_position=${position}`)
          log.push(...json.data.map(({ stream_id }: { readonly stream_id: string }) => stream_id))
          more = json.has_more
          position = json.next_position
        }
        assert.deepStrictEqual(log.toSorted(), load.accepted.toSorted())
        for (const seen of [byFeed, byStream]) {
          yield* World.until(
            Effect.sync(() => seen.length),
            (count) => count >= log.length,
            Senders.PATIENCE,
          )
          assert.deepStrictEqual(seen, log)
        }
        isOver = true
        ending.abort()
        yield* Effect.promise(() => streaming)
        yield* Fiber.join(reading)
        const called = () => receiver.calls.map(({ body }): string => JSON.parse(body).data.email_id)
        yield* World.until(
          Effect.sync(() => new Set(called()).size),
          (count) => count >= log.length,
          Senders.PATIENCE,
        )
        assert.deepStrictEqual(called().toSorted(), log.toSorted())
      },
      TIMEOUT,
    )
  },
)
