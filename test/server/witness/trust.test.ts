import * as Dns from "@waybill/mail/dns/Dns"
import * as Network from "@waybill/mail/dns/Network"
import * as SignedNote from "@waybill/store/transparency/SignedNote"
import { Effect, Result } from "effect"
import { randomBytes } from "node:crypto"
import * as fs from "node:fs/promises"
import * as AddCheckpoint from "../../../apps/server/src/witness/AddCheckpoint.ts"
import * as Cosigner from "../../../apps/server/src/witness/Cosigner.ts"
import { follow } from "../../../apps/server/src/witness/follow.ts"
import * as Witness from "../../../apps/server/src/witness/Witness.ts"
import { assert, describe, it } from "../../support/effectTest.ts"
import { memoryFolder } from "../../support/memoryFolder.ts"
import { FakeLog } from "./FakeLog.ts"

const LOOPBACK = Result.getOrThrow(Network.parseAll(["127.0.0.0/8"]))

/** Instances that serve a log each, and a witness that follows them and can be started again. */
const start = Effect.fnUntraced(function* (...logs: ReadonlyArray<FakeLog>) {
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => memoryFolder("witness")),
    (folder) => Effect.promise(() => fs.rm(folder, { recursive: true, force: true })),
  )
  const urls: Array<string> = []
  for (const log of logs) {
    const { url } = yield* Effect.acquireRelease(
      Effect.promise(() => log.serve()),
      ({ close }) => Effect.promise(close),
    )
    urls.push(url)
  }
  const cosigner = yield* Effect.promise(() => Cosigner.make("w", new Uint8Array(32)))
  const open = Effect.map(Witness.make(folder, cosigner, { instances: urls }), (witness) => ({
    witness,
    follow: (nth = 0, keys?: ReadonlyArray<string>) =>
      follow(witness, { url: urls[nth] ?? "", ...(keys === undefined ? {} : { keys }) }, LOOPBACK).pipe(
        Effect.provide(Dns.Dns.layer({})),
      ),
    keys: (log: FakeLog) => witness.logs.get(log.origin)?.seen.keys,
  }))
  return { open, ...(yield* open) }
})

const added = (log: FakeLog) => SignedNote.signer(log.origin, randomBytes(32))

describe("what a witness trusts", () => {
  it.effect("lets no instance add keys to the log of another one", function* () {
    const victim = new FakeLog("victim.example.com/log").grow(30)
    const attacker = new FakeLog("attacker.example.com/log").grow(1)
    const started = yield* start(victim, attacker)
    yield* started.follow(0)
    const own = added(victim)
    attacker.cells = [
      {
        origin: victim.origin,
        keys: [...victim.keys, SignedNote.vkeyOf(own)],
        url: "https://attacker.example.com/log/cells/c2",
      },
    ]
    // Anybody can write a further signature below the checkpoint of the victim.
    const signed = new FakeLog(victim.origin).grow(30)
    signed.signers = [...victim.signers, own]
    const answer = attacker.answer.bind(attacker)
    attacker.answer = (path) => (path === "/log/cells/c2/checkpoint" ? signed.note() : answer(path))
    assert.include((yield* Effect.flip(started.follow(1))).message, `names the log ${victim.origin}`)
    assert.deepStrictEqual(started.keys(victim), victim.keys)
    // Also after a start, whichever of the two is followed first.
    const again = yield* started.open
    assert.include((yield* Effect.flip(again.follow(1))).message, `names the log ${victim.origin}`)
    yield* again.follow(0)
    assert.deepStrictEqual(again.keys(victim), victim.keys)
  })

  it.effect("trusts after a start only the keys that it trusted before", function* () {
    const log = new FakeLog().grow(3)
    const started = yield* start(log)
    yield* started.follow()
    const { keys } = log
    log.grow(1).signers = [added(log)]
    const again = yield* started.open
    assert.strictEqual((yield* Effect.flip(again.follow()))._tag, "NotTrusted")
    assert.deepStrictEqual(again.keys(log), keys)
  })

  it.effect("adds no key to those that the operator has named", function* () {
    const log = new FakeLog().grow(3)
    const { keys } = log
    const started = yield* start(log)
    log.signers = [...log.signers, added(log)]
    yield* started.follow(0, keys)
    yield* started.follow(0, keys)
    assert.deepStrictEqual(started.keys(log), keys)
  })

  it.effect("refuses a name that is none of a key, which no metric could have as its label", function* () {
    const log = new FakeLog("mail.example.com/log\u0001").grow(3)
    const { follow, witness } = yield* start(log)
    log.signers = []
    assert.include((yield* Effect.flip(follow())).message, "does not describe a log")
    assert.strictEqual(witness.logs.size, 0)
  })

  it.effect("refuses names without end from one instance", function* () {
    const log = new FakeLog().grow(3)
    const { witness } = yield* start(log)
    const name = (nth: number) => witness.watch("http://127.0.0.1:9/log", `${nth}.example.com/log`, log.keys, false)
    for (let nth = 0; nth < Witness.MAX_LOGS_OF_INSTANCE; nth++) yield* name(nth)
    assert.strictEqual((yield* Effect.flip(name(-1)))._tag, "NotTrusted")
    yield* name(0)
    assert.strictEqual(witness.logs.size, Witness.MAX_LOGS_OF_INSTANCE)
  })
})

describe("a witness that is sent a fork", () => {
  const ask = (witness: Witness.Witness, old: number, note: string) =>
    witness.answer(AddCheckpoint.encode({ old, proof: [new Uint8Array(32)], note }))
  const forkOf = (log: FakeLog) => {
    const other = new FakeLog(log.origin)
    other.signers = log.signers
    return other
  }

  it.effect("names two roots of one size, whatever proof comes with them", function* () {
    const log = new FakeLog().grow(40)
    const { follow, witness } = yield* start(log)
    yield* follow()
    assert.strictEqual((yield* ask(witness, 40, forkOf(log).grow(40, "other").note())).status, 422)
    assert.isNotNull(witness.logs.get(log.origin)?.seen.fork)
  })

  it.effect("keeps a checkpoint that the log has not reached, and names the fork once it has", function* () {
    const log = new FakeLog().grow(40)
    const { follow, witness } = yield* start(log)
    yield* follow()
    yield* ask(witness, 40, forkOf(log).grow(60, "other").note())
    // One of the same history takes no place of another one.
    yield* ask(witness, 40, log.note())
    assert.strictEqual((yield* Effect.flip(follow()))._tag, "LogUnreadable")
    log.grow(30)
    yield* follow()
    assert.isNotNull(witness.logs.get(log.origin)?.seen.fork)
    assert.strictEqual(witness.logs.get(log.origin)?.latest?.size, 70)
  })
})
