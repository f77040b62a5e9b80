import { EventStore } from "@waybill/store/commit/EventStore"
import * as StoreDatabase from "@waybill/store/database/Database"
import { Sql } from "@waybill/store/postgres/Sql"
import * as Checkpoints from "@waybill/store/transparency/Checkpoints"
import * as LogTree from "@waybill/store/transparency/LogTree"
import * as SignedNote from "@waybill/store/transparency/SignedNote"
import * as TreeAudit from "@waybill/store/transparency/TreeAudit"
import { Effect, Layer, Redacted } from "effect"
import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"
import { assert, layer } from "../../support/effectTest.ts"
import { NOWHERE } from "../../support/nowhere.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as CommandLine from "../../support/process/CommandLine.ts"
import * as World from "../../support/world/World.ts"
import { send } from "../commit/commits.ts"

const Store = EventStore.layer().pipe(Layer.provideMerge(Database.layerFresh))
const TIMEOUT = { timeout: 120_000 }

const folder = Effect.acquireRelease(
  Effect.promise(() => fs.mkdtemp(path.join(os.tmpdir(), "waybill-restored-log-"))),
  (made) => Effect.promise(() => fs.rm(made, { recursive: true, force: true })),
)

const succeed = Effect.fnUntraced(function* (url: string, ...words: ReadonlyArray<string>) {
  const { errors, exit, output } = yield* CommandLine.typeWith({ DATABASE_URL: url, WAYBILL_DATA: NOWHERE }, ...words)
  assert.strictEqual(CommandLine.codeOf(exit), 0, `${output}\n${errors}`)
})

const on = (url: string) =>
  Layer.fresh(EventStore.layer()).pipe(
    Layer.provideMerge(Layer.fresh(StoreDatabase.layer({ url: Redacted.make(url) }))),
  )

/** Sends a mail, appends and signs its events, and returns the names of the log, the present one first. */
const grow = Effect.gen(function* () {
  const { transact } = yield* EventStore
  yield* transact(send(yield* World.account()))
  yield* Effect.repeat(LogTree.step, { until: ({ events, isFull }) => !isFull && events === 0 })
  yield* Checkpoints.sign("a.test/log", (origin) => [SignedNote.signer(origin, Buffer.alloc(32, 1))])
  return yield* Checkpoints.trees(yield* Sql)
})

layer(Store, { excludeTestServices: true })("a log that is restored from an older backup", (it) => {
  it.effect(
    "never signs again what the lost leaves were under, and names the last head that it knows",
    () =>
      Effect.gen(function* () {
        const { url } = yield* Database.Fresh
        const [source, target] = [Redacted.value(url), yield* Database.emptyDatabase]
        const file = path.join(yield* folder, "log.backup")
        const [saved] = yield* grow
        yield* succeed(source, "backup", "--to", file)
        const [lost] = yield* grow
        assert.deepStrictEqual([lost?.origin, (lost?.size ?? 0) > (saved?.size ?? 0)], ["a.test/log", true])

        yield* succeed(target, "restore", file)
        const [[now, former], { differences }] = yield* Effect.provide(
          Effect.all([grow, TreeAudit.audit()]),
          on(target),
        )
        assert.match(now?.origin ?? "", /^a\.test\/log\/~[0-9a-f]{8}$/u)
        assert.strictEqual(former?.note, saved?.note)
        const last = Checkpoints.checkpointOf(saved?.note ?? "")
        const { extensions, size } = Checkpoints.checkpointOf(now?.note ?? "")
        const root = Buffer.from(last.root).toString("base64")
        assert.deepStrictEqual(extensions, [`continues a.test/log ${last.size} ${root}`])
        assert.isAbove(size, last.size)
        assert.deepStrictEqual(differences, [])
      }).pipe(Effect.scoped),
    TIMEOUT,
  )
})

layer(Store, { excludeTestServices: true })("a log that is imported from a file", (it) => {
  it.effect(
    "has leaves of its own for all events, under a name of its own",
    () =>
      Effect.gen(function* () {
        const { url } = yield* Database.Fresh
        const [source, target] = [Redacted.value(url), yield* Database.emptyDatabase]
        const file = path.join(yield* folder, "log.jsonl")
        const [exported] = yield* grow
        yield* succeed(source, "events", "export", file)
        yield* succeed(target, "migrate")
        yield* succeed(target, "events", "import", file)
        const [[imported, former], { differences, leaves }] = yield* Effect.provide(
          Effect.all([grow, TreeAudit.audit()]),
          on(target),
        )
        assert.match(imported?.origin ?? "", /^a\.test\/log\/~[0-9a-f]{8}$/u)
        assert.isUndefined(former)
        assert.isAbove(leaves, exported?.size ?? 0)
        assert.deepStrictEqual(differences, [])
      }).pipe(Effect.scoped),
    TIMEOUT,
  )
})
