import * as CellSchema from "@waybill/store/cells/CellSchema"
import { Duration, Effect, Fiber, Layer } from "effect"
import { EventFeed } from "../../../apps/server/src/live/EventFeed.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as World from "../../support/world/World.ts"
import { lockTables, senderIn } from "./support.ts"

/** A reader that nobody wakes returns then. */
const READS_FOR = Duration.seconds(90)

const Services = EventFeed.layer.pipe(Layer.provideMerge(World.layer))

layer(Services, { excludeTestServices: true })("the event feed", (it) => {
  it.effect("wakes readers of every cell, beside one whose events are locked", function* () {
    yield* CellSchema.make("cell_b")
    yield* CellSchema.make("cell_c")
    const [first, inB, locked] = [yield* senderIn("public"), yield* senderIn("cell_b"), yield* senderIn("cell_c")]
    const feed = yield* EventFeed
    const readNext = Effect.fnUntraced(function* ({ account_id }: World.SendingDomain) {
      const { upTo } = yield* feed.next({ account_id, after: 0n, limit: 100 }, Duration.zero)
      return yield* Effect.forkChild(feed.next({ account_id, after: upTo, limit: 100 }, READS_FOR))
    })
    const hanging = yield* readNext(locked)
    yield* lockTables("cell_c", "events")
    const readers = yield* Effect.forEach([first, inB], readNext)
    const began = performance.now()
    for (const sender of [first, inB]) yield* World.send(sender)
    const pages = yield* Effect.forEach(readers, (reader) => Fiber.join(reader), { concurrency: 2 })
    assert.isBelow(performance.now() - began, Duration.toMillis(READS_FOR) / 2)
    assert.deepStrictEqual(
      pages.map(({ events }) => events.map(({ account_id, type }) => [account_id, type])),
      [first, inB].map(({ account_id }) => [[account_id, "EmailQueued"]]),
    )
    assert.isUndefined(hanging.pollUnsafe())
    yield* Fiber.interrupt(hanging)
  })
})
