import * as Id from "@waybill/domain/values/Id"
import * as Cursors from "@waybill/store/feed/Cursors"
import * as InstanceKey from "@waybill/store/secrets/InstanceKey"
import { Result } from "effect"
import { randomBytes } from "node:crypto"
import { assert, describe, it } from "../../support/effectTest.ts"

const ring = (...keys: ReadonlyArray<string>) =>
  Cursors.make(Result.getOrThrow(InstanceKey.parse(keys.join("\n"))).derive("positions"))
const [keyA, keyB] = [InstanceKey.generate(), InstanceKey.generate()]
const acme = Id.make("AccountId", 1, new Uint8Array(10))
const other = Id.make("AccountId", 2, new Uint8Array(10))
const POSITIONS = [0n, 1n, 48_211n, 2n ** 48n, 2n ** 64n - 1n]

describe("a cursor", () => {
  const cursors = ring(keyA)

  it("decrypts to its position and looks like an id", () => {
    for (const position of POSITIONS) {
      for (const text of [cursors.ofEvent(acme, position), cursors.ofProgress(acme, position)]) {
        assert.match(text, /^pos_[0-7][0-9a-hjkmnp-tv-z]{25}$/u)
        assert.strictEqual(cursors.read(acme, text), position)
      }
    }
  })

  it("of an event is the same each time; one of progress differs", () => {
    assert.strictEqual(cursors.ofEvent(acme, 7n), ring(keyA).ofEvent(acme, 7n))
    const seen = new Set(Array.from({ length: 10_000 }, () => cursors.ofProgress(acme, 7n)))
    assert.strictEqual(seen.size, 10_000)
  })

  it("shows neither order nor distance", () => {
    const texts = Array.from({ length: 200 }, (_, i) => cursors.ofEvent(acme, BigInt(i)))
    const sorted = texts.filter((text, i) => i === 0 || text > (texts[i - 1] ?? "")).length
    assert.isAbove(sorted, 50)
    assert.isBelow(sorted, 150)
    const prefixes = new Set(texts.map((text) => text.slice(0, 10)))
    assert.strictEqual(prefixes.size, 200)
  })

  it("is invalid for another account and under another instance key", () => {
    const text = cursors.ofEvent(acme, 7n)
    assert.isUndefined(cursors.read(other, text))
    assert.isUndefined(ring(keyB).read(acme, text))
    assert.notStrictEqual(cursors.ofEvent(other, 7n), text)
  })

  it("is written with the first instance key and read with every retained one", () => {
    const before = cursors.ofEvent(acme, 7n)
    const rotated = ring(keyB, keyA)
    assert.strictEqual(rotated.read(acme, before), 7n)
    const after = rotated.ofEvent(acme, 7n)
    assert.notStrictEqual(after, before)
    assert.strictEqual(ring(keyB).read(acme, after), 7n)
  })

  it("is invalid when changed, made up or cut", () => {
    const text = cursors.ofEvent(acme, 7n)
    for (let at = Cursors.PREFIX.length; at < text.length; at++) {
      const character = text[at] === "7" ? "6" : "7"
      assert.isUndefined(cursors.read(acme, text.slice(0, at) + character + text.slice(at + 1)), `at ${at}`)
    }
    for (let i = 0; i < 5_000; i++) assert.isUndefined(cursors.read(acme, Cursors.PREFIX + Id.base32(randomBytes(16))))
    for (const bad of [
      "",
      "0",
      "7",
      "pos_",
      text.slice(0, -1),
      `${text}0`,
      text.toUpperCase(),
      text.replace("pos", "msg"),
    ])
      assert.isUndefined(cursors.read(acme, bad), bad)
  })
})

describe("base32", () => {
  it("decodes what it encodes", () => {
    for (let i = 0; i < 200; i++) {
      const bytes = randomBytes(16)
      assert.deepStrictEqual(Buffer.from(Id.fromBase32(Id.base32(bytes)) ?? []), bytes)
    }
  })
})
