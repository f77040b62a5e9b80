import type * as Address from "@waybill/domain/Address"
import * as Mask from "@waybill/store/Mask"
import { assert, describe, it } from "vitest"

const mask = Mask.make("Ana@example.org" as Address.Address, "erased-1@erased.invalid" as Address.Address)

describe("a mask", () => {
  it.for([
    ["ana@example.org", "erased-1@erased.invalid"],
    ["Undeliverable to <ANA@Example.ORG>.", "Undeliverable to <erased-1@erased.invalid>."],
    ["https://x.test/?u=ana%40example.org&v=1", "https://x.test/?u=erased-1@erased.invalid&v=1"],
    ["mail ana@example.org, ana@example.org", "mail erased-1@erased.invalid, erased-1@erased.invalid"],
  ] as const)("covers the address in %s", ([text, masked]) => {
    assert.strictEqual(mask.apply(text), masked)
    assert.isTrue(mask.stands({ deep: [{ text }] }))
  })

  it.for([
    "diana@example.org",
    "ana@example.org.uk",
    "x.ana@example.org",
    "ana@example.orgs",
    "ana+x@example.org",
    "ana",
  ])("leaves %s alone, which is somebody else's", (text) => {
    assert.strictEqual(mask.apply(text), text)
    assert.isFalse(mask.stands([text]))
  })

  it("takes the name from beside the address, and from nowhere else", () => {
    const both = [
      { address: "ana@example.org", name: "Ana" },
      { address: "bo@example.org", name: "Bo" },
    ]
    assert.deepStrictEqual<unknown>(mask.apply(both), [{ address: "erased-1@erased.invalid" }, both[1]])
    const member = { user_id: "usr_1", email: "ana@example.org", name: "Ana" }
    assert.deepStrictEqual(mask.apply(member), { ...member, email: "erased-1@erased.invalid", name: "erased" })
  })

  it("forgets where somebody opened a message only where that is theirs", () => {
    const opened = { recipient: "ana@example.org", ip: "192.0.2.1", user_agent: "x", at: "now" }
    assert.deepInclude<unknown>(mask.applyToTrace(opened), { ip: null, user_agent: null, at: "now" })
    assert.deepInclude(mask.apply(opened), { ip: "192.0.2.1", user_agent: "x" })
  })
})
