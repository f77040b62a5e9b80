import * as CellChecks from "@waybill/store/cells/CellChecks"
import * as CellSchema from "@waybill/store/cells/CellSchema"
import * as Migrations from "@waybill/store/database/Migrations"
import * as AccountMove from "@waybill/store/moves/AccountMove"
import * as CellNodes from "@waybill/store/operations/CellNodes"
import * as CellStates from "@waybill/store/operations/CellStates"
import * as LostCell from "@waybill/store/operations/LostCell"
import { Effect, Layer, Redacted } from "effect"
import * as Citus from "../../support/cells/citusDatabase.ts"
import * as OwnNode from "../../support/cells/ownNode.ts"
import * as OwnServer from "../../support/cells/OwnServer.ts"
import * as Senders from "../../support/cells/senders.ts"
import { assert, describe, it } from "../../support/effectTest.ts"
import { faultProxy } from "../../support/postgres/faultProxy.ts"
import * as World from "../../support/world/World.ts"
import { senderIn } from "./support.ts"

const { CITUS_URL } = Citus
const COORDINATOR = CITUS_URL ?? ""
/** Mails of each account before, during and after the loss of a node. */
const SOME = 40
const MAX_TEST_MS = 600_000

/** Two accounts under load, one in a cell on a node whose server the test may kill. */
const underLoad = Effect.fnUntraced(function* (database: Citus.CitusDatabase, own: OwnNode.OwnNode) {
  const [elsewhere] = database.nodes
  if (elsewhere === undefined) return yield* Effect.die(new Error("the cluster needs a node"))
  const { first, node, second, sink } = yield* Senders.installation(
    Redacted.make(database.url),
    [own, elsewhere],
    "loss",
  )
  const [lost, other] = [yield* Senders.load(first), yield* Senders.load(second)]
  return {
    lost,
    other,
    get: first.get,
    bothGoOn: Effect.all([lost.goesOn(SOME), other.goesOn(SOME)], { concurrency: 2 }),
    /** Waits until the one has been refused for some time, while the other goes on. */
    onlyOtherGoesOn: Effect.andThen(
      World.until(Effect.sync(lost.unavailable), (count) => count >= SOME, Senders.PATIENCE),
      other.goesOn(SOME),
    ),
    /** Ends the load, and returns what became of it. */
    end: Effect.gen(function* () {
      yield* Effect.all([lost.stop, other.stop], { concurrency: 2 })
      assert.deepStrictEqual([other.others, lost.others], [[], []], node.output())
      // Commits that were under way on the node.
      assert.isAtMost(lost.unconfirmed(), Senders.AT_ONCE)
      const missing = yield* Senders.missingIn(first.cell, lost.accepted)
      assert.deepStrictEqual(yield* Senders.missingIn(second.cell, other.accepted), [])
      console.log(
        `${lost.accepted.length} accepted, of them ${missing.length} lost, ${lost.unavailable()} answers 503, ` +
          `${lost.unconfirmed()} not confirmed; elsewhere ${other.accepted.length} accepted, ${other.unavailable()} answers 503; ` +
          `${sink.mails.length} mails received`,
      )
      assert.isAtLeast(sink.mails.length, lost.accepted.length - missing.length + other.accepted.length)
      return missing
    }),
  }
})

/** Runs steps on a database of the cluster that has one more node, on this server. */
const withNode = <E, R>(
  server: OwnServer.OwnServer,
  steps: (database: Citus.CitusDatabase, own: OwnNode.OwnNode) => Effect.Effect<unknown, E, R>,
) =>
  Effect.gen(function* () {
    const database = yield* Effect.acquireRelease(
      Effect.promise(() => Citus.citusDatabase(COORDINATOR)),
      ({ drop }) => Effect.promise(drop),
    )
    const own = yield* OwnNode.join(database, server)
    const url = Redacted.make(database.url)
    yield* Migrations.migrate(url)
    yield* Effect.scoped(steps(database, own)).pipe(Effect.provide(World.services(url, 4)))
  })

describe.skipIf(CITUS_URL === undefined)("a node of a Citus cluster whose processes are killed under load", () => {
  it.live(
    "delays no other cell, and has every accepted mail when it starts again",
    () =>
      Effect.gen(function* () {
        const server = yield* OwnServer.start(COORDINATOR)
        yield* withNode(
          server,
          Effect.fnUntraced(function* (database, own) {
            const { bothGoOn, end, onlyOtherGoesOn, other } = yield* underLoad(database, own)
            yield* bothGoOn
            yield* server.kill
            yield* onlyOtherGoesOn
            yield* server.start
            yield* bothGoOn
            assert.deepStrictEqual(yield* end, [])
            assert.deepStrictEqual([other.unavailable(), other.unconfirmed()], [0, 0])
          }),
        )
      }).pipe(Effect.scoped),
    MAX_TEST_MS,
  )

  it.live(
    "has every accepted mail on its synchronous standby",
    () =>
      Effect.gen(function* () {
        const server = yield* OwnServer.start(COORDINATOR)
        const standby = yield* server.standby()
        yield* OwnServer.makeSynchronous(server)
        yield* withNode(
          server,
          Effect.fnUntraced(function* (database, own) {
            const { bothGoOn, end, onlyOtherGoesOn } = yield* underLoad(database, own)
            yield* bothGoOn
            yield* server.kill
            yield* onlyOtherGoesOn
            yield* OwnServer.promote(standby)
            yield* own.moveTo(standby)
            yield* bothGoOn
            assert.deepStrictEqual(yield* end, [])
          }),
        )
      }).pipe(Effect.scoped),
    MAX_TEST_MS,
  )

  it.live(
    "has on its asynchronous standby what that had received, and nothing of the rest",
    () =>
      Effect.gen(function* () {
        const server = yield* OwnServer.start(COORDINATOR)
        const stream = yield* faultProxy(Redacted.make(server.url))
        const standby = yield* server.standby(Number(new URL(Redacted.value(stream.url)).port))
        yield* withNode(
          server,
          Effect.fnUntraced(function* (database, own) {
            const { bothGoOn, end, get, lost, onlyOtherGoesOn } = yield* underLoad(database, own)
            yield* bothGoOn
            stream.down()
            yield* lost.goesOn(SOME)
            yield* server.kill
            yield* onlyOtherGoesOn
            yield* OwnServer.promote(standby)
            yield* own.moveTo(standby)
            yield* bothGoOn
            const missing = yield* end
            assert.isAtLeast(missing.length, SOME - Senders.AT_ONCE)
            for (const id of missing) assert.strictEqual((yield* get(`/v1/email/logs/${id}`)).status, 404)
          }),
        )
      }).pipe(Effect.scoped),
    MAX_TEST_MS,
  )
})

describe.skipIf(CITUS_URL === undefined)("a cell on a node of a Citus cluster that is lost for good", () => {
  it.live(
    "is removed, and an account that was moving to it stays where it is",
    () =>
      Effect.gen(function* () {
        const server = yield* OwnServer.start(COORDINATOR)
        yield* withNode(
          server,
          Effect.fnUntraced(function* (database, own) {
            yield* CellSchema.make("cell_l")
            yield* CellNodes.move("cell_l", own, () => Effect.void)
            const sender = yield* senderIn("public")
            yield* World.send(sender)
            const report = (line: string) =>
              line.startsWith("waiting for the last rows") ? Effect.die("killed") : Effect.void
            yield* Effect.exit(AccountMove.move(sender.account_id, "cell_l", { report }))
            assert.include((yield* Effect.flip(LostCell.examine("cell_l"))).message, "answers, so it is not lost")
            yield* server.kill
            assert.strictEqual(yield* LostCell.examine("cell_l"), 1)
            yield* LostCell.remove("cell_l")
            assert.isTrue((yield* CellChecks.check()).every(({ ok }) => ok))
            yield* World.send(sender)
            yield* server.start
            // A session of the coordinator that has a connection to the killed server fails.
            const services = Layer.fresh(World.services(Redacted.make(database.url), 4))
            assert.isTrue(yield* Effect.provide(CellStates.dropLeftOver("cell_l"), services))
            assert.isFalse(yield* CellStates.dropLeftOver("cell_l"))
          }),
        )
      }).pipe(Effect.scoped),
    MAX_TEST_MS,
  )
})
