import * as Dns from "@waybill/mail/dns/Dns"
import * as Network from "@waybill/mail/dns/Network"
import * as SignedNote from "@waybill/store/transparency/SignedNote"
import { fromBase64 } from "@waybill/verify/Bytes"
import { verifyConsistency } from "@waybill/verify/MerkleProof"
import { parseCheckpoint, parseNote } from "@waybill/verify/SignedNote"
import { Effect, Result } from "effect"
import { randomBytes } from "node:crypto"
import * as fs from "node:fs/promises"
import { join } from "node:path"
import * as AddCheckpoint from "../../../apps/server/src/witness/AddCheckpoint.ts"
import * as Cosigner from "../../../apps/server/src/witness/Cosigner.ts"
import { follow } from "../../../apps/server/src/witness/follow.ts"
import * as Witness from "../../../apps/server/src/witness/Witness.ts"
import { assert, describe, it } from "../../support/effectTest.ts"
import { memoryFolder } from "../../support/memoryFolder.ts"
import { FakeLog } from "./FakeLog.ts"

const LOOPBACK = Result.getOrThrow(Network.parseAll(["127.0.0.0/8"]))

interface Options {
  readonly keys?: ReadonlyArray<string>
  readonly allowed?: Network.Networks
}

/** A witness that follows a log which is served on this machine. */
const start = Effect.fnUntraced(function* (log: FakeLog, { allowed = LOOPBACK, keys }: Options = {}) {
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => memoryFolder("witness")),
    (folder) => Effect.promise(() => fs.rm(folder, { recursive: true, force: true })),
  )
  const { url } = yield* Effect.acquireRelease(
    Effect.promise(() => log.serve()),
    ({ close }) => Effect.promise(close),
  )
  const witness = yield* Witness.make(folder, yield* Effect.promise(() => Cosigner.make("w", new Uint8Array(32))))
  return {
    url,
    witness,
    follow: follow(witness, { url, ...(keys === undefined ? {} : { keys }) }, allowed).pipe(
      Effect.provide(Dns.Dns.layer({})),
    ),
    size: () => witness.logs.get(log.origin)?.latest?.size,
    /** Reads the proof that the log has forked; undefined if there is none. */
    fork: Effect.promise(async () => {
      const name = witness.logs.get(log.origin)?.seen.fork ?? null
      return name === null ? undefined : JSON.parse(await fs.readFile(join(folder, name), "utf8"))
    }),
  }
})

/** Whether a proof shows, with nothing but the keys of the log, that two of its checkpoints do not belong together. */
const proves = (
  fork: Record<"smaller" | "larger" | "root_in_larger", string> & { readonly proof: ReadonlyArray<string> },
) =>
  Effect.promise(async () => {
    const [smaller, larger] = [fork.smaller, fork.larger].map((note) => parseCheckpoint(parseNote(note).text))
    if (smaller === undefined || larger === undefined) return false
    const root = fromBase64(fork.root_in_larger)
    const isIn = await verifyConsistency(smaller.size, root, larger.size, larger.root, fork.proof.map(fromBase64))
    return isIn && Buffer.compare(root, smaller.root) !== 0
  })

describe("a witness that follows a log", () => {
  it.effect("signs each checkpoint that extends the last one, whatever their sizes", function* () {
    const log = new FakeLog().grow(1)
    const { follow, size } = yield* start(log)
    for (const growth of [0, 0, 1, 5, 248, 1, 1, 255, 1, 700, 2_000, 64_000]) {
      log.grow(growth)
      yield* follow
      assert.strictEqual(size(), log.leaves.length)
    }
  })

  it.effect.each([
    ["a larger one of another history", 300, (log: FakeLog) => log.rewrite(17).grow(50)],
    ["one of the same size and another root", 300, (log: FakeLog) => log.rewrite(299)],
    [
      "a history that lost leaves and got others in their places",
      300,
      (log: FakeLog) => {
        log.leaves = log.leaves.slice(0, 280)
        log.grow(60, "later")
      },
    ],
    [
      "one without the first leaf",
      2,
      (log: FakeLog) => {
        log.leaves = log.leaves.slice(1)
        log.grow(2)
      },
    ],
  ] as const)("names a log that shows %s, with a proof for others", ([, size, change]) =>
    Effect.gen(function* () {
      const log = new FakeLog().grow(size)
      const started = yield* start(log)
      yield* started.follow
      change(log)
      yield* started.follow
      const fork = yield* started.fork
      assert.isTrue(yield* proves(fork))
      // Nothing is signed any more, whatever is shown.
      log.grow(10)
      yield* started.follow
      assert.strictEqual(started.size(), size)
    }),
  )

  it.effect("names a log that shows an older checkpoint of another history", function* () {
    const log = new FakeLog().grow(300)
    const started = yield* start(log)
    yield* started.follow
    const other = new FakeLog(log.origin)
    other.signers = log.signers
    log.shown = other.grow(200, "other").note()
    yield* started.follow
    assert.isTrue(yield* proves(yield* started.fork))
  })

  it.effect("takes an older checkpoint of the same history for what it is", function* () {
    const log = new FakeLog().grow(300)
    const started = yield* start(log)
    yield* started.follow
    log.shown = log.note(200)
    yield* started.follow
    assert.deepStrictEqual([started.size(), yield* started.fork], [300, undefined])
  })

  it.effect("signs nothing that the tiles of the log do not prove, and does not call it a fork", function* () {
    const log = new FakeLog().grow(300)
    const started = yield* start(log)
    yield* started.follow
    const other = new FakeLog(log.origin)
    other.signers = log.signers
    log.shown = other.grow(400, "other").note()
    log.grow(100)
    assert.strictEqual((yield* Effect.flip(started.follow))._tag, "LogUnreadable")
    assert.deepStrictEqual([started.size(), yield* started.fork], [300, undefined])
  })

  it.effect("finds the fork behind a checkpoint that was submitted with a wrong proof", function* () {
    const log = new FakeLog().grow(40)
    const started = yield* start(log)
    yield* started.follow
    const note = log.rewrite(3).grow(5).note()
    const body = AddCheckpoint.encode({ old: 40, proof: [new Uint8Array(32)], note })
    assert.strictEqual((yield* started.witness.answer(body)).status, 422)
    assert.isUndefined(yield* started.fork)
    yield* started.follow
    assert.isTrue(yield* proves(yield* started.fork))
  })

  it.effect("trusts the key of the first contact, and later ones that sign together with it", function* () {
    const log = new FakeLog().grow(3)
    const started = yield* start(log)
    yield* started.follow
    const [first] = log.signers
    const next = SignedNote.signer(log.origin, randomBytes(32))
    log.grow(1).signers = [next]
    assert.strictEqual((yield* Effect.flip(started.follow))._tag, "NotTrusted")
    log.signers = first === undefined ? [] : [next, first]
    yield* started.follow
    log.grow(1).signers = [next]
    yield* started.follow
    assert.strictEqual(started.size(), 5)
    assert.deepStrictEqual(started.witness.logs.get(log.origin)?.seen.keys, log.keys)
  })

  it.effect("trusts only the keys of its configuration, if there are any", function* () {
    const log = new FakeLog().grow(3)
    const other = new FakeLog(log.origin)
    const started = yield* start(log, { keys: other.keys })
    assert.strictEqual((yield* Effect.flip(started.follow))._tag, "NotTrusted")
    const strangers = yield* start(log, { keys: new FakeLog("elsewhere.example.com/log").keys })
    yield* strangers.follow
    assert.isUndefined(strangers.size())
  })

  it.effect("follows the log of each cell, at addresses of the instance only", function* () {
    const log = new FakeLog().grow(3)
    const started = yield* start(log)
    log.cells = [
      { origin: "mail.example.com/log/cells/c2", keys: [], url: "https://elsewhere.example.com/log/cells/c2" },
    ]
    yield* Effect.flip(started.follow)
    assert.deepInclude(log.requests, "/log/cells/c2/checkpoint")
    log.cells = [{ origin: "x", keys: [], url: "http://169.254.169.254/latest" }]
    assert.include((yield* Effect.flip(started.follow)).message, "not one of a log")
  })

  // threat: internal-addresses
  it.effect("reaches no private address unless its operator allows it", function* () {
    const log = new FakeLog().grow(3)
    const started = yield* start(log, { allowed: [] })
    assert.include((yield* Effect.flip(started.follow)).message, "loopback")
    assert.deepStrictEqual(log.requests, [])
  })
})
