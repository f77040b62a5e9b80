import * as Email from "@waybill/domain/email/Email"
import type { AccountId } from "@waybill/domain/values/Id"
import * as CellSchema from "@waybill/store/cells/CellSchema"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as Follower from "@waybill/store/feed/Follower"
import * as AccountMove from "@waybill/store/moves/AccountMove"
import { Sql } from "@waybill/store/postgres/Sql"
import { CurrentCell, inCell } from "@waybill/store/routing/CurrentCell"
import * as Checkpoints from "@waybill/store/transparency/Checkpoints"
import * as LogTree from "@waybill/store/transparency/LogTree"
import * as Receipts from "@waybill/store/transparency/Receipts"
import * as SignedNote from "@waybill/store/transparency/SignedNote"
import * as TreeAudit from "@waybill/store/transparency/TreeAudit"
import { Duration, Effect, Layer } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"
import { open, send } from "../commit/commits.ts"

const Store = EventStore.layer().pipe(Layer.provideMerge(Database.layerFresh))
const signers = (origin: string) => [SignedNote.signer(origin, Buffer.alloc(32, 1))]

/** Appends all events of a cell to its tree, signs it, and returns its names, the present one first. */
const build = (cell = "public", base = "https://a.test") =>
  inCell(
    cell,
    Effect.gen(function* () {
      yield* Effect.repeat(LogTree.step, { until: ({ events, isFull }) => !isFull && events === 0 })
      yield* Checkpoints.sign(Checkpoints.originOf(base, yield* CurrentCell), signers)
      return yield* Checkpoints.trees(yield* Sql)
    }),
  )

const sendMail = Effect.fnUntraced(function* (account_id: AccountId) {
  const { transact } = yield* EventStore
  return yield* Effect.orDie(transact(send(account_id)))
})

const newestOf = (cell: string, account_id: AccountId) =>
  inCell(
    cell,
    Effect.gen(function* () {
      const sql = yield* Sql
      const [row] = yield* sql<{ readonly stream_id: string }>`
        SELECT stream_id FROM events WHERE account_id = ${account_id} AND stream = 'email' ORDER BY position DESC LIMIT 1`
      return row?.stream_id ?? ""
    }),
  )

/** Lets the database look as if it had come to another server, as after a restore from a backup. */
const otherServer = Effect.flatMap(Sql, (sql) => sql`UPDATE log_epochs SET server = 'former'`)

/** Lets the time pass for which a name is held. */
const letPass = Effect.flatMap(
  Sql,
  (sql) => sql`UPDATE log_trees SET signed_at = signed_at - ${Checkpoints.HELD_SECONDS}::int * interval '1 second'`,
)

layer(Store, { excludeTestServices: true })("the name of a log", (it) => {
  it.effect("changes where signed leaves may be lost, and names the log that it continues", function* () {
    const account = yield* World.account()
    yield* sendMail(account)
    const [first] = yield* build()
    assert.strictEqual(first?.origin, "a.test/log")
    yield* otherServer
    // Until a commit says that it is another server, nothing is signed.
    const [same] = yield* build()
    assert.strictEqual(same?.note, first?.note)
    // A connection of its own notices the other server.
    yield* Effect.provide(sendMail(account), Layer.fresh(EventStore.layer()))
    const [second, former] = yield* build()
    assert.match(second?.origin ?? "", /^a\.test\/log\/~[0-9a-f]{8}$/u)
    assert.strictEqual(former?.note, first?.note)
    const { extensions, size } = Checkpoints.checkpointOf(second?.note ?? "")
    const last = Checkpoints.checkpointOf(first?.note ?? "")
    assert.deepStrictEqual(extensions, [
      `continues a.test/log ${last.size} ${Buffer.from(last.root).toString("base64")}`,
    ])
    assert.isAbove(size, last.size)
    assert.deepStrictEqual((yield* TreeAudit.audit()).differences, [])
    yield* letPass
    const [moved] = yield* build("public", "https://b.test/x/")
    assert.strictEqual(moved?.origin, `b.test/x/log${second?.origin.slice("a.test/log".length)}`)
  })
})

layer(Store, { excludeTestServices: true })("the name of a log whose processes have several", (it) => {
  it.effect("is that of those who have it, until none of them has signed for a while", function* () {
    const account = yield* World.account()
    const names: Array<string> = []
    const both = Effect.gen(function* () {
      for (const base of ["https://a.test", "https://b.test"]) {
        yield* sendMail(account)
        const trees = yield* build("public", base)
        assert.strictEqual(Checkpoints.checkpointOf(trees[0]?.note ?? "").size, trees[0]?.size)
        names.splice(0, names.length, ...trees.map(({ origin }) => origin))
      }
    })
    for (let nth = 0; nth < 3; nth++) yield* both
    assert.deepStrictEqual(names, ["a.test/log"])
    // Signatures of the other one do not hold the name.
    yield* letPass
    yield* build("public", "https://b.test")
    for (let nth = 0; nth < 3; nth++) yield* both
    assert.deepStrictEqual(names, ["b.test/log", "a.test/log"])
    yield* letPass
    yield* build("public", "https://b.test")
    yield* both
    assert.deepStrictEqual(names, ["b.test/log", "a.test/log"])
  })
})

layer(Store, { excludeTestServices: true })("a log that was imported", (it) => {
  it.effect("has a name of its own", function* () {
    const sql = yield* Sql
    yield* sendMail(yield* World.account())
    yield* sql`UPDATE log_epochs SET last_position = 7, after_position = 7`
    const [tree] = yield* build()
    assert.match(tree?.origin ?? "", /^a\.test\/log\/~[0-9a-f]{8}$/u)
  })
})

layer(Store, { excludeTestServices: true })("the tree of a cell", (it) => {
  it.effect("has the events of an account that came, and forgets the salts of one that left", function* () {
    yield* CellSchema.make("cell_b")
    const moving = yield* World.account()
    yield* sendMail(yield* World.accountIn("cell_b"))
    for (let nth = 0; nth < 3; nth++) yield* sendMail(moving)
    yield* build()
    yield* build("cell_b")
    const id = yield* newestOf("public", moving)
    const before = yield* Receipts.prove(moving, id)
    yield* AccountMove.move(moving, "cell_b", { noticedAfter: Duration.millis(100) })
    const [tree] = yield* build("cell_b")
    assert.strictEqual(tree?.origin, "a.test/log/cells/cell_b")
    const after = yield* inCell("cell_b", Receipts.prove(moving, id))
    assert.strictEqual(after.events.length, before.events.length)
    assert.deepStrictEqual((yield* inCell("cell_b", TreeAudit.audit())).differences, [])
    const { differences, leaves, without_data } = yield* TreeAudit.audit()
    assert.deepStrictEqual(differences, [])
    assert.isAtLeast(without_data, 3)
    assert.strictEqual(leaves, before.tree.size)
    const missing = yield* Effect.flip(Receipts.prove(moving, id))
    assert.deepInclude(missing, { _tag: "Unproved", why: "missing" })
  })

  it.effect("has new events beside those of an account that comes, each mail's in their order", function* () {
    yield* CellSchema.make("cell_c")
    const moving = yield* World.account()
    const staying = yield* World.accountIn("cell_c")
    yield* sendMail(staying)
    for (let nth = 0; nth < 5; nth++) yield* sendMail(moving)
    const id = yield* sendMail(moving)
    yield* build()
    yield* build("cell_c")
    yield* AccountMove.move(moving, "cell_c", { noticedAfter: Duration.millis(100) })
    // A later event of a mail whose first ones have not arrived, and a mail of another account.
    const { commit } = yield* EventStore
    yield* commit(Email, { account_id: moving, stream_id: id }, open)
    const other = yield* sendMail(staying)
    const prove = (account: AccountId, stream: string) => inCell("cell_c", Receipts.prove(account, stream))
    const sign = Checkpoints.sign(Checkpoints.originOf("https://a.test", "cell_c"), signers)
    const fewMore = inCell("cell_c", Effect.andThen(Follower.step(LogTree.follower, 2), sign))
    yield* fewMore
    yield* fewMore
    assert.isNotEmpty((yield* prove(staying, other)).events)
    assert.deepInclude(yield* Effect.flip(prove(moving, id)), { _tag: "Unproved", why: "pending" })
    assert.deepStrictEqual((yield* inCell("cell_c", TreeAudit.audit())).differences, [])
    yield* build("cell_c")
    const { events } = yield* prove(moving, id)
    const indexes = events.map(({ index }) => index)
    assert.isAbove(indexes.length, 1)
    assert.deepStrictEqual(
      indexes,
      indexes.toSorted((one, next) => one - next),
    )
    assert.deepStrictEqual((yield* inCell("cell_c", TreeAudit.audit())).differences, [])
  })
})
