import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as Database from "../../support/database.ts"
import * as Delivery from "../../support/delivery.ts"
import * as SmtpServer from "../../support/smtpServer.ts"

const World = Layer.unwrap(Effect.map(Database.Fresh, ({ url }) => Delivery.store(url))).pipe(
  Layer.provideMerge(Layer.effect(Database.Fresh, Database.freshDatabase)),
)

layer(World, { excludeTestServices: true })("a worker", (it) => {
  it.effect("delivers what was accepted, and the timeline tells it", () =>
    Effect.gen(function* () {
      const { url } = yield* Database.Fresh
      const server = yield* SmtpServer.listen()
      yield* Layer.build(Delivery.worker(url, { relay: Delivery.relay(server) }))
      const from = yield* Delivery.sender()
      const ref = yield* Delivery.accept(from)
      yield* Delivery.settled(ref)
      assert.deepStrictEqual(yield* Delivery.timeline(ref), ["EmailQueued", "EmailDelivered"])
      assert.strictEqual(server.mails.length, 1)
    }),
  )
})
