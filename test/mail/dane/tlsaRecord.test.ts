import * as TlsaRecord from "@waybill/mail/dane/TlsaRecord"
import { assert, describe, it } from "../../support/effectTest.ts"

const record = (usage: number, selector: number, matching: number, bytes: number) => ({
  usage,
  selector,
  matching,
  data: Buffer.alloc(bytes, usage + selector),
})

describe("TLSA records that can be used", () => {
  it("are those of DANE-TA and DANE-EE with a digest of the right length, or something whole", () => {
    const all = [
      record(0, 1, 1, 32),
      record(1, 1, 1, 32),
      record(4, 1, 1, 32),
      record(3, 2, 1, 32),
      record(3, 1, 3, 32),
      record(3, 1, 1, 31),
      record(3, 1, 2, 32),
      record(3, 1, 0, 0),
      record(2, 0, 0, 50),
      record(2, 1, 1, 32),
      record(3, 1, 0, 50),
    ]
    assert.deepStrictEqual(TlsaRecord.usable(all), all.slice(-2))
  })

  it("are those with the strongest digest of each kind", () => {
    const weak = record(3, 1, 1, 32)
    const alone = record(2, 1, 1, 32)
    const strong = record(3, 1, 2, 64)
    const whole = record(3, 1, 0, 50)
    assert.deepStrictEqual(TlsaRecord.usable([weak, alone, strong, whole]), [alone, strong, whole])
  })
})
