import * as Id from "@waybill/domain/values/Id"
import { randomBytes } from "node:crypto"
import { assert, describe, it } from "../../support/effectTest.ts"

/** Crockford's base32 alphabet. */
const DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"

const hexOf = (id: string): string => {
  let value = 0n
  for (const digit of id.slice(id.indexOf("_") + 1)) value = value * 32n + BigInt(DIGITS.indexOf(digit))
  return value.toString(16).padStart(32, "0")
}

describe("id", () => {
  it("an id is a prefixed UUIDv7, as in RFC 9562 A.6", () => {
    const random = Uint8Array.from([0x5c, 0xc3, 0x18, 0xc4, 0xdc, 0x0c, 0x0c, 0x07, 0x39, 0x8f])
    const made = Id.make("EmailId", 0x017f22e279b0, random)
    assert.match(made, /^msg_[0-9a-z]{26}$/u)
    assert.strictEqual(hexOf(made), "017f22e279b07cc398c4dc0c0c07398f")
  })

  it("an id keeps all random bits besides the UUID's version", () => {
    const made = Id.make("EmailId", 0xffffffffffff, new Uint8Array(10).fill(0xff))
    assert.strictEqual(hexOf(made), "ffffffffffff7fffbfffffffffffffff")
  })

  it("an id has the same bits whether the last one was of its millisecond or not", () => {
    for (let n = 0; n < 2_000; n++) {
      const random = randomBytes(10)
      const millis = Math.floor((n % 7) * 2 ** 45.2) + (n % 3)
      const uuid = Buffer.concat([Buffer.from(millis.toString(16).padStart(12, "0"), "hex"), random])
      uuid[6] = 0x70 | ((uuid[6] ?? 0) & 0x0f)
      uuid[8] = 0x80 | ((uuid[8] ?? 0) & 0x3f)
      for (const name of ["EmailId", "EventId"] as const) {
        const made = Id.make(name, millis, random)
        assert.strictEqual(hexOf(made), uuid.toString("hex"))
        assert.strictEqual(made, `${Id.PREFIXES[name]}_${Id.base32(uuid)}`)
        assert.strictEqual(Id.timeOf(made), millis)
      }
    }
  })

  it("ids sort by time, after the lowest id of their millisecond", () => {
    const at = Date.UTC(2026, 10, 21)
    const ids = [at, at + 1, at + 256, at + 65_536].map((millis) =>
      Id.make("EmailId", millis, new Uint8Array(10).fill(255)),
    )
    assert.deepStrictEqual(ids.toSorted(), ids)
    assert.isTrue(Id.lowest("EmailId", at) < (ids[0] ?? ""))
    assert.strictEqual(hexOf(Id.lowest("EmailId", 1)), "00000000000170008000000000000000")
  })

  it("the lowest id is never before 1970", () => {
    assert.strictEqual(Id.lowest("EmailId", Date.UTC(1900, 0, 1)), Id.lowest("EmailId", 0))
  })
})
