import * as CellSchema from "@waybill/store/cells/CellSchema"
import { Effect, Exit, Fiber, Layer, Scope } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import * as SmtpServer from "../../support/mail/smtpServer.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"
import { countIn, lockTables, senderIn } from "./support.ts"

const DELIVERED = ["EmailQueued", "EmailDelivered"]

const worker = Effect.fnUntraced(function* () {
  const server = yield* SmtpServer.listen()
  const { url } = yield* Database.Fresh
  yield* Layer.build(World.worker(url, { relay: World.relay(server) }))
  return server
})

layer(World.layer, { excludeTestServices: true })("the delivery pipeline", (it) => {
  it.effect("delivers the mail of every cell, each by its own outbox", function* () {
    yield* CellSchema.make("cell_b")
    yield* CellSchema.make("cell_c")
    const server = yield* worker()
    const senders = yield* Effect.forEach(["public", "cell_b", "cell_c"], (cell) => senderIn(cell))
    const sent = yield* Effect.forEach(
      senders.flatMap((sender) => [sender, sender, sender]),
      (sender) => World.send(sender),
      { concurrency: "unbounded" },
    )
    yield* Effect.forEach(sent, (ref) => World.settled(ref), { concurrency: "unbounded" })
    for (const ref of sent) assert.deepStrictEqual(yield* World.timeline(ref), DELIVERED)
    assert.lengthOf(server.mails, sent.length)
    for (const cell of ["public", "cell_b", "cell_c"]) assert.strictEqual(yield* countIn(cell, "email_log"), 3, cell)
  })

  it.effect("serves a cell that is added while it runs", function* () {
    yield* worker()
    yield* CellSchema.make("cell_d")
    const ref = yield* World.send(yield* senderIn("cell_d"))
    yield* World.settled(ref)
    assert.deepStrictEqual(yield* World.timeline(ref), DELIVERED)
  })

  it.effect("is not delayed by the locked outbox of another cell", function* () {
    yield* CellSchema.make("cell_e")
    yield* worker()
    const [locked, other] = [yield* senderIn("cell_e"), yield* senderIn("public")]
    const lock = yield* Scope.fork(yield* Effect.scope)
    yield* Scope.provide(lockTables("cell_e", "outbox", "events"), lock)
    const hanging = yield* Effect.forkChild(World.send(locked))
    const began = performance.now()
    for (let n = 0; n < 20; n++) yield* World.settled(yield* World.send(other))
    // Each that waited for the lock would take seconds, or for ever.
    assert.isBelow(performance.now() - began, 60_000)
    assert.isUndefined(hanging.pollUnsafe())
    yield* Scope.close(lock, Exit.void)
    const waiting = yield* Fiber.join(hanging)
    yield* World.settled(waiting)
    assert.deepStrictEqual(yield* World.timeline(waiting), DELIVERED)
  })
})
