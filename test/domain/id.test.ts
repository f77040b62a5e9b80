import { assert, describe, it } from "@effect/vitest"
import * as Id from "@waybill/domain/Id"

/** Crockford's. */
const DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"

const hexOf = (id: string): string => {
  let value = 0n
  for (const digit of id.slice(id.indexOf("_") + 1)) value = value * 32n + BigInt(DIGITS.indexOf(digit))
  return value.toString(16).padStart(32, "0")
}

describe("an id", () => {
  it("is a UUIDv7 behind its prefix: RFC 9562 A.6 is one", () => {
    const random = Uint8Array.from([0x5c, 0xc3, 0x18, 0xc4, 0xdc, 0x0c, 0x0c, 0x07, 0x39, 0x8f])
    const made = Id.make("EmailId", 0x017f22e279b0, random)
    assert.match(made, /^msg_[0-9a-z]{26}$/u)
    assert.strictEqual(hexOf(made), "017f22e279b07cc398c4dc0c0c07398f")
  })

  it("keeps every bit of its randomness that its version leaves", () => {
    const made = Id.make("EmailId", 0xffffffffffff, new Uint8Array(10).fill(0xff))
    assert.strictEqual(hexOf(made), "ffffffffffff7fffbfffffffffffffff")
  })

  it("sorts by its time, after the lowest of its millisecond", () => {
    const at = Date.UTC(2026, 10, 21)
    const ids = [at, at + 1, at + 256, at + 65_536].map((millis) =>
      Id.make("EmailId", millis, new Uint8Array(10).fill(255)),
    )
    assert.deepStrictEqual(ids.toSorted(), ids)
    assert.isTrue(Id.lowest("EmailId", at) < (ids[0] ?? ""))
    assert.strictEqual(hexOf(Id.lowest("EmailId", 1)), "00000000000170008000000000000000")
  })

  it("begins with 1970, however far back a range reaches", () => {
    assert.strictEqual(Id.lowest("EmailId", Date.UTC(1900, 0, 1)), Id.lowest("EmailId", 0))
  })
})
