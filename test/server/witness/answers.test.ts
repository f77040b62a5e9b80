import * as SignedNote from "@waybill/store/transparency/SignedNote"
import { fromBase64 } from "@waybill/verify/Bytes"
import { parseNote, parseVkey, verifyNote } from "@waybill/verify/SignedNote"
import { Effect, Exit } from "effect"
import { createPublicKey, randomBytes, verify } from "node:crypto"
import * as fs from "node:fs/promises"
import { join } from "node:path"
import * as AddCheckpoint from "../../../apps/server/src/witness/AddCheckpoint.ts"
import * as Cosigner from "../../../apps/server/src/witness/Cosigner.ts"
import * as Witness from "../../../apps/server/src/witness/Witness.ts"
import { assert, describe, it } from "../../support/effectTest.ts"
import { memoryFolder } from "../../support/memoryFolder.ts"
import { FakeLog } from "./FakeLog.ts"

const NAME = "witness.example.org/w1"

const start = Effect.fnUntraced(function* (log: FakeLog) {
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => memoryFolder("witness")),
    (folder) => Effect.promise(() => fs.rm(folder, { recursive: true, force: true })),
  )
  const cosigner = yield* Effect.promise(() => Cosigner.make(NAME, new Uint8Array(32).fill(7)))
  const open = Effect.gen(function* () {
    const witness = yield* Witness.make(folder, cosigner)
    yield* witness.watch("http://127.0.0.1:1/log", log.origin, log.keys)
    return (request: Partial<AddCheckpoint.AddCheckpoint> = {}) =>
      witness.answer(AddCheckpoint.encode({ old: 0, proof: [], note: log.note(), ...request }))
  })
  return { ask: yield* open, cosigner, folder, open }
})

describe("a witness", () => {
  it("reads requests as c2sp.org/tlog-witness writes them", () => {
    const body = `old 20852014
PlRNCrwHpqhGrupue0L7gxbjbMiKA9temvuZZDDpkaw=
jrJZDmY8Y7SyJE0MWLpLozkIVMSMZcD5kvuKxPC3swk=
5+pKlUdi2LeF/BcMHBn+Ku6yhPGNCswZZD1X/6QgPd8=
/6WVhPs2CwSsb5rYBH5cjHV/wSmA79abXAwhXw3Kj/0=

example.com/behind-the-sofa
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
`
    const request = AddCheckpoint.decode(body)
    assert.deepStrictEqual([request?.old, request?.proof.length], [20_852_014, 4])
    assert.strictEqual(request === undefined ? "" : AddCheckpoint.encode(request), body)
    for (const broken of [
      "",
      "old 1",
      body.replace("old ", "old 0"),
      body.replace("old ", "new "),
      body.replace("jrJZ", "!rJZ"),
      body.replace("jrJZ", ""),
      body.replace("old 20852014\n", "old 99999999999999999\n"),
      `old 1\n${"PlRNCrwHpqhGrupue0L7gxbjbMiKA9temvuZZDDpkaw=\n".repeat(64)}\n${body}`,
    ])
      assert.isUndefined(AddCheckpoint.decode(broken), broken.slice(0, 40))
  })

  it.effect("signs the time and the text of a checkpoint, as c2sp.org/tlog-cosignature says", function* () {
    const log = new FakeLog().grow(5)
    const { ask, cosigner } = yield* start(log)
    const { body, status } = yield* ask()
    assert.strictEqual(status, 200)
    const key = yield* Effect.promise(() => parseVkey(cosigner.text))
    assert.deepStrictEqual([key.name, key.kind], [NAME, "witness"])
    const note = parseNote(`${log.note()}${body}`)
    assert.strictEqual((yield* Effect.promise(() => verifyNote(note, key))).result, "valid")
    // The same by hand: id, time and signature over the two lines and the text.
    const bytes = Buffer.from(fromBase64(/^— \S+ (\S+)\n$/u.exec(body)?.[1] ?? ""))
    const spki = Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), key.key])
    const message = `cosignature/v1\ntime ${bytes.readBigUInt64BE(4)}\n${note.text}`
    const publicKey = createPublicKey({ key: spki, format: "der", type: "spki" })
    assert.isTrue(verify(null, Buffer.from(message), publicKey, bytes.subarray(12)))
  })

  it.effect("answers with the statuses of the protocol", function* () {
    const log = new FakeLog().grow(7)
    const { ask } = yield* start(log)
    const stranger = new FakeLog("other.example.com/log").grow(7)
    const forger = new FakeLog(log.origin).grow(7)
    const statusOf = (request: Partial<AddCheckpoint.AddCheckpoint>) => Effect.map(ask(request), ({ status }) => status)
    assert.strictEqual(yield* statusOf({ note: "no note" }), 404)
    assert.strictEqual(yield* statusOf({ note: stranger.note() }), 404)
    assert.strictEqual(yield* statusOf({ note: forger.note() }), 403)
    assert.strictEqual(yield* statusOf({ note: log.note().replace("\n7\n", "\n8\n") }), 403)
    assert.strictEqual(yield* statusOf({ old: 8 }), 400)
    assert.strictEqual(yield* statusOf({ proof: [new Uint8Array(32)] }), 422)
    assert.strictEqual(yield* statusOf({ note: log.note(0, new Uint8Array(32)) }), 422)
    assert.deepStrictEqual(yield* ask({ old: 3 }), { status: 409, body: "0\n", type: "text/x.tlog.size" })
    assert.strictEqual(yield* statusOf({}), 200)
    log.grow(4)
    assert.deepStrictEqual(yield* ask({ old: 3, proof: log.proof(3) }), {
      status: 409,
      body: "7\n",
      type: "text/x.tlog.size",
    })
    assert.strictEqual(yield* statusOf({ old: 7, proof: log.proof(6) }), 422)
    assert.strictEqual(yield* statusOf({ old: 7, proof: [] }), 422)
    assert.strictEqual(yield* statusOf({ old: 7, proof: log.proof(7) }), 200)
    // The same one again: its time is another.
    assert.strictEqual(yield* statusOf({ old: 11 }), 200)
    // Nothing smaller is signed, although it is of the same history.
    assert.strictEqual(yield* statusOf({ old: 9, note: log.note(9), proof: log.proof(7, 9) }), 409)
  })

  it.effect("signs one of two checkpoints that come at once", function* () {
    const log = new FakeLog().grow(4)
    const { ask } = yield* start(log)
    const answers = yield* Effect.all([ask(), ask({ note: log.rewrite(1).note() })], { concurrency: "unbounded" })
    assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [200, 409])
  })

  it.effect("refuses a log that signs two roots of one size, for ever, and keeps the proof", function* () {
    const log = new FakeLog().grow(6)
    const { ask, folder, open } = yield* start(log)
    const first = log.note()
    assert.strictEqual((yield* ask()).status, 200)
    const second = log.rewrite(2).note()
    assert.strictEqual((yield* ask({ old: 6, note: second })).status, 422)
    const names = yield* Effect.promise(() => fs.readdir(folder))
    const file = join(folder, names.find((name) => name.startsWith("fork-")) ?? "")
    const proof = JSON.parse(yield* Effect.promise(() => fs.readFile(file, "utf8")))
    assert.deepStrictEqual([proof.origin, proof.keys, proof.larger], [log.origin, log.keys, second])
    assert.include(proof.smaller, first)
    // Also after a restart, and also of the first history.
    const again = yield* open
    assert.strictEqual((yield* again({ old: 6, note: second })).status, 422)
    assert.strictEqual((yield* again({ old: 6, note: first })).status, 422)
  })

  it.effect("remembers what it has signed, and sends no signature that it could not store", function* () {
    const log = new FakeLog().grow(3)
    const { ask, folder, open } = yield* start(log)
    assert.strictEqual((yield* ask()).status, 200)
    assert.strictEqual((yield* (yield* open)({ old: 0 })).status, 409)
    log.grow(2)
    yield* Effect.promise(() => fs.rm(folder, { recursive: true }))
    assert.isTrue(Exit.hasDies(yield* Effect.exit(ask({ old: 3, proof: log.proof(3) }))))
    // What was not stored is not known as signed either.
    yield* Effect.promise(() => fs.mkdir(folder))
    assert.strictEqual((yield* ask({ old: 3, proof: log.proof(3) })).status, 200)
  })

  it.effect("does not start on a memory that it cannot read", function* () {
    const { folder, open } = yield* start(new FakeLog().grow(1))
    yield* Effect.promise(() => fs.writeFile(join(folder, "broken.log.json"), "{"))
    assert.isTrue(Exit.hasDies(yield* Effect.exit(open)))
  })

  it.effect("takes its key from a file that only its owner can read", function* () {
    const { folder } = yield* start(new FakeLog())
    const file = join(folder, "witness.key")
    const made = yield* Effect.promise(() => Cosigner.fromFile(NAME, file))
    assert.strictEqual((yield* Effect.promise(() => fs.stat(file))).mode & 0o777, 0o600)
    assert.strictEqual((yield* Effect.promise(() => Cosigner.fromFile(NAME, file))).text, made.text)
    yield* Effect.promise(() => fs.chmod(file, 0o640))
    const problem = () => Effect.promise(() => Cosigner.fromFile(NAME, file).then(String, ({ message }) => message))
    assert.include(yield* problem(), `chmod 600 ${file}`)
    yield* Effect.promise(() => fs.rm(file))
    yield* Effect.promise(() => fs.writeFile(file, "short\n", { mode: 0o600 }))
    assert.include(yield* problem(), "does not hold a key of 32 bytes")
  })

  it.effect("accepts any of the keys of a log, and no key that it does not know", function* () {
    const log = new FakeLog().grow(2)
    const { ask } = yield* start(log)
    const former = log.signers
    const next = SignedNote.signer(log.origin, randomBytes(32))
    log.signers = [next, ...former]
    assert.strictEqual((yield* ask()).status, 200)
    log.signers = [next]
    assert.strictEqual((yield* ask({ old: 2 })).status, 403)
  })
})
