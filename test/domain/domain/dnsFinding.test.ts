import * as DnsFinding from "@waybill/domain/domain/DnsFinding"
import { assert, describe, it } from "../../support/effectTest.ts"

const finding = (over: Partial<DnsFinding.DnsFinding> = {}): DnsFinding.DnsFinding => ({
  purpose: "dkim",
  host: DnsFinding.dkimHost("wb1"),
  status: "verified",
  found: [],
  error: null,
  ...over,
})

describe("DNS finding", () => {
  it("findings are clipped in number and length", () => {
    const long = (letter: string, chars = 3000) => letter.repeat(chars)
    const found = Array.from({ length: 11 }, () => long("f"))
    const kept = DnsFinding.clipped(
      Array.from({ length: 21 }, () => ({ ...finding({ host: long("h"), found, error: long("e") }), ttl: 60 })),
    )
    const one = finding({
      host: long("h", 1024),
      found: Array.from({ length: 10 }, () => long("f", 1024)),
      error: long("e", 512),
    })
    assert.deepStrictEqual(
      kept,
      Array.from({ length: 20 }, () => one),
    )
    assert.deepStrictEqual(DnsFinding.clipped([finding()]), [finding()])
  })

  it("a key's status comes from its own record; a key that was not checked is unavailable", () => {
    const records = [
      finding({ purpose: "return_path", status: "mismatch" }),
      finding(),
      finding({ host: DnsFinding.dkimHost("wb2"), status: "missing" }),
    ]
    assert.deepStrictEqual(
      ["wb1", "wb2", "wb3"].map((selector) => DnsFinding.ofSelector(records, selector)),
      ["verified", "missing", "unavailable"],
    )
  })
})
