import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as CellSchema from "@waybill/store/cells/CellSchema"
import * as InstanceKey from "@waybill/store/secrets/InstanceKey"
import { ROTATION_BATCH, Secrets, WrongInstanceKey } from "@waybill/store/secrets/Secrets"
import { Cause, Context, Effect, Exit, Layer, Option, Redacted, Result, Runtime, Scope } from "effect"
import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, describe, it, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { NOWHERE } from "../../support/nowhere.ts"
import { lockTables } from "../../server/cells/support.ts"

const [keyA, keyB, keyC] = [InstanceKey.generate(), InstanceKey.generate(), InstanceKey.generate()]
const keys = (...texts: ReadonlyArray<string>) =>
  InstanceKey.InstanceKey.layer({ file: `${NOWHERE}/instance.key`, text: Option.some(Redacted.make(texts.join("\n"))) })
const secretsUnder = (...texts: ReadonlyArray<string>) =>
  Effect.map(Layer.build(Layer.fresh(Secrets.layer.pipe(Layer.provide(keys(...texts))))), (context) =>
    Context.get(context, Secrets),
  )

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (found: Option.Option<Uint8Array>) => Option.map(found, (each) => new TextDecoder().decode(each))
const secretRef = (id: string, purpose = "dkim:wb1") => ({ account_id: "acc_1", id, purpose })

const World = Secrets.layer.pipe(Layer.provide(keys(keyA)), Layer.provideMerge(Database.layerFresh))

layer(World, { excludeTestServices: true })("a secret", (it) => {
  it.effect("opens to its original bytes, and a later one replaces it", function* () {
    const secrets = yield* Secrets
    yield* secrets.seal(secretRef("dom_1"), bytes("first"))
    const first = yield* secrets.open(secretRef("dom_1"))
    yield* secrets.seal(secretRef("dom_1"), bytes("second"))
    assert.deepStrictEqual(
      [text(first), text(yield* secrets.open(secretRef("dom_1"))), yield* secrets.open(secretRef("dom_2"))],
      [Option.some("first"), Option.some("second"), Option.none()],
    )
  })

  it.effect("is stored encrypted, and differently each time", function* () {
    const [sql, secrets] = [yield* Sql, yield* Secrets]
    yield* secrets.seal(secretRef("dom_3", "a"), bytes("correct horse"))
    yield* secrets.seal(secretRef("dom_3", "b"), bytes("correct horse"))
    const rows = yield* sql<{ readonly whole: string; readonly ciphertext: Uint8Array }>`
        SELECT s::text AS whole, ciphertext FROM secrets s WHERE id = 'dom_3'`
    const [one, other] = rows.map((row) => Buffer.from(row.ciphertext).toString("hex"))
    assert.notStrictEqual(one, other)
    for (const row of rows) assert.notInclude(row.whole, Buffer.from("correct horse").toString("hex"))
  })

  // threat: database-copy
  it.effect("does not open under another key of the table, nor with a changed bit", function* () {
    const [sql, secrets] = [yield* Sql, yield* Secrets]
    yield* secrets.seal(secretRef("dom_4"), bytes("mine"))
    yield* sql`INSERT INTO secrets SELECT 'acc_2', id, purpose, key_id, nonce, ciphertext, created_at FROM secrets WHERE id = 'dom_4'`
    const moved = yield* Effect.exit(secrets.open({ ...secretRef("dom_4"), account_id: "acc_2" }))
    yield* sql`UPDATE secrets SET ciphertext = set_byte(ciphertext, 0, get_byte(ciphertext, 0) # 1) WHERE id = 'dom_4'`
    const changed = yield* Effect.exit(secrets.open(secretRef("dom_4")))
    assert.deepStrictEqual([Exit.isFailure(moved), Exit.isFailure(changed)], [true, true])
  })

  it.effect("is not found after its expiry", function* () {
    const secrets = yield* Secrets
    yield* secrets.seal(secretRef("whk_1", "old"), bytes("x"), Timestamp.fromMillis(0))
    assert.deepStrictEqual(yield* secrets.open(secretRef("whk_1", "old")), Option.none())
  })

  it.effect("sealed in a transaction that is rolled back does not exist", function* () {
    const [sql, secrets] = [yield* Sql, yield* Secrets]
    yield* Effect.exit(
      sql.withTransaction(Effect.andThen(secrets.seal(secretRef("dom_5"), bytes("x")), Effect.fail("no"))),
    )
    assert.deepStrictEqual(yield* secrets.open(secretRef("dom_5")), Option.none())
  })

  it.effect("is deleted when it expired or its owner was never created", function* () {
    const [sql, secrets] = [yield* Sql, yield* Secrets]
    yield* sql`DELETE FROM secrets WHERE account_id <> ''`
    for (const id of ["owned", "orphan", "young"]) yield* secrets.seal(secretRef(id), bytes(id))
    yield* secrets.seal(secretRef("expired"), bytes("x"), Timestamp.fromMillis(0))
    yield* sql`INSERT INTO events (account_id, stream_id, version, stream, type, event_id, data, meta, recorded_at)
        VALUES ('acc_1', 'owned', 1, 'domain', 'DomainAdded', 'evt_1', '{}', '{}', now())`
    yield* sql`UPDATE secrets SET created_at = now() - interval '2 days' WHERE id IN ('owned', 'orphan', 'instance')`
    const removed = yield* secrets.sweep
    const left = yield* sql<{ readonly id: string }>`SELECT id FROM secrets ORDER BY id`
    assert.deepStrictEqual([removed, left.map((row) => row.id)], [2, ["instance", "owned", "young"]])
  })

  it.effect("in a stored answer opens only for the same request", function* () {
    const secrets = yield* Secrets
    const context = { account_id: "acc_1", route: "POST /api-keys", key: "once" }
    const sealed = secrets.sealAnswer(context, bytes("wb_key"))
    assert.strictEqual(new TextDecoder().decode(secrets.openAnswer(context, sealed)), "wb_key")
    assert.throws(() => secrets.openAnswer({ ...context, key: "twice" }, sealed))
    assert.throws(() => secrets.openAnswer(context, sealed.subarray(0, sealed.length - 1)))
    assert.throws(() => secrets.openAnswer(context, bytes("wb_key")))
    assert.notInclude(Buffer.from(sealed).toString("latin1"), "wb_key")
  })
})

layer(Database.layerFresh, { excludeTestServices: true })("a rotation of the instance key", (it) => {
  it.effect("seals everything again, so that the former key is no longer needed", function* () {
    const former = yield* secretsUnder(keyA)
    for (let n = 0; n < 3; n++) yield* former.seal(secretRef(`dom_${n}`), bytes(`secret ${n}`))
    const both = yield* secretsUnder(keyB, keyA)
    const before = yield* both.open(secretRef("dom_1"))
    const outcome = yield* both.rotate
    const latter = yield* secretsUnder(keyB)
    // Includes the witness.
    assert.deepStrictEqual(outcome, { resealed: 4, unreadable: 0, unreachable: [] })
    assert.deepStrictEqual(
      [text(before), text(yield* latter.open(secretRef("dom_2")))],
      [Option.some("secret 1"), Option.some("secret 2")],
    )
  })

  it.effect("counts secrets that no available key opens", function* () {
    const sql = yield* Sql
    yield* sql`UPDATE secrets SET key_id = 'lost' WHERE id = 'dom_0'`
    assert.deepStrictEqual(yield* (yield* secretsUnder(keyB, keyA)).rotate, {
      resealed: 0,
      unreadable: 1,
      unreachable: [],
    })
  })

  it.effect("that was interrupted still needs the former key", function* () {
    const sql = yield* Sql
    const former = yield* secretsUnder(keyB)
    const many = Array.from({ length: ROTATION_BATCH }, (_, n) => secretRef(`dom_many_${n}`))
    const last = { ...secretRef("dom_1"), account_id: "acc_2" }
    yield* Effect.forEach([...many, last], (each) => former.seal(each, bytes("x")), { concurrency: 10 })
    yield* sql`UPDATE secrets SET ciphertext = substring(ciphertext FROM 2) WHERE account_id = 'acc_2'`
    assert.isTrue(Exit.isFailure(yield* Effect.exit((yield* secretsUnder(keyC, keyB)).rotate)))
    const exit = yield* Effect.exit(secretsUnder(keyC))
    assert.instanceOf(Exit.isFailure(exit) && Cause.squash(exit.cause), WrongInstanceKey)
  })

  it.effect("prevents a node with only the former key from starting, and names both keys", function* () {
    const exit = yield* Effect.exit(secretsUnder(keyA))
    const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
    assert(error instanceof WrongInstanceKey)
    assert.strictEqual(error[Runtime.errorExitCode], 78)
    const ids = [keyA, keyB].map((each) => Result.getOrThrow(InstanceKey.parse(each)).current)
    for (const id of ids) assert.include(error.message, id)
  })
})

layer(Database.layerFresh, { excludeTestServices: true })("a rotation beside a cell that does not answer", (it) => {
  it.effect("names the cell, and keeps the former key needed until the cell has its turn", function* () {
    const sql = yield* Sql
    yield* CellSchema.make("cell_b")
    const former = yield* secretsUnder(keyA)
    for (const id of ["dom_here", "dom_there"]) yield* former.seal(secretRef(id), bytes(id))
    yield* sql`
      WITH moved AS (DELETE FROM public.secrets WHERE id = 'dom_there' RETURNING *)
      INSERT INTO cell_b.secrets SELECT * FROM moved`
    const { rotate } = yield* secretsUnder(keyB, keyA)
    const lock = yield* Scope.fork(yield* Effect.scope)
    yield* Scope.provide(lockTables("cell_b", "secrets"), lock)
    assert.deepStrictEqual(yield* rotate, { resealed: 1, unreadable: 0, unreachable: ["cell_b"] })
    assert.isTrue(Exit.isFailure(yield* Effect.exit(secretsUnder(keyB))))
    yield* Scope.close(lock, Exit.void)
    // The secret of the cell, and the witness.
    assert.deepStrictEqual(yield* rotate, { resealed: 2, unreadable: 0, unreachable: [] })
    yield* secretsUnder(keyB)
  })
})

describe("the instance key", () => {
  const folder = Effect.acquireRelease(
    Effect.promise(() => fs.mkdtemp(path.join(os.tmpdir(), "waybill-key-"))),
    (made) => Effect.promise(() => fs.rm(made, { recursive: true })),
  )
  const fromFile = (file: string) =>
    Effect.map(Layer.build(Layer.fresh(InstanceKey.InstanceKey.layer({ file, text: Option.none() }))), (context) =>
      Context.get(context, InstanceKey.InstanceKey),
    )

  it.effect("is created once, readable only for its owner, even if several processes start at once", function* () {
    const made = yield* folder
    const file = path.join(made, "data", "instance.key")
    const rings = yield* Effect.forEach(Array.from({ length: 8 }), () => fromFile(file), { concurrency: 8 })
    const { mode } = yield* Effect.promise(() => fs.stat(file))
    const left = yield* Effect.promise(() => fs.readdir(path.dirname(file)))
    assert.deepStrictEqual(
      [new Set(rings.map((ring) => ring.current)).size, mode & 0o777, left],
      [1, 0o600, ["instance.key"]],
    )
  })

  it.effect("is refused with its file name if damaged, and never replaced", function* () {
    const file = path.join(yield* folder, "instance.key")
    yield* Effect.promise(() => fs.writeFile(file, "short\n", { mode: 0o600 }))
    const exit = yield* Effect.exit(fromFile(file))
    const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
    assert(error instanceof InstanceKey.BadInstanceKey)
    assert.include(error.message, file)
    assert.strictEqual(yield* Effect.promise(() => fs.readFile(file, "utf8")), "short\n")
  })

  it("can have comments and further keys, in lines or separated by commas; the first one seals", () => {
    const ring = Result.getOrThrow(InstanceKey.parse(`# made today\n${keyA}\n\n${keyB} # the one before\n`))
    const inline = Result.getOrThrow(InstanceKey.parse(`${keyA},${keyB}`))
    assert.deepStrictEqual(ring.ids, inline.ids)
    assert.strictEqual(ring.current, Result.getOrThrow(InstanceKey.parse(keyA)).current)
  })

  for (const [name, bad] of [
    ["nothing", "# only a remark"],
    ["too few bytes", Buffer.alloc(31).toString("base64")],
    ["too many bytes", Buffer.alloc(33).toString("base64")],
    ["no base64", "!".repeat(44)],
  ] as const) {
    it(`is refused when it is ${name}`, () => assert.isTrue(Result.isFailure(InstanceKey.parse(bad))))
  }
})
