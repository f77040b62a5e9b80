import * as Id from "@waybill/domain/values/Id"
import * as ReturnPath from "@waybill/mail/tokens/ReturnPath"
import { Option, Schema } from "effect"
import { assert, describe, it } from "../../support/effectTest.ts"

const KEY = new Uint8Array(32).fill(7)
const emailId = Id.make("EmailId", 1_795_256_120_000, Uint8Array.from([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]))
const account_id = Id.make("AccountId", 1_795_256_110_000, Uint8Array.from([9, 8, 7, 6, 5, 4, 3, 2, 1, 0]))
const localPart = (address: string) => address.slice(0, address.lastIndexOf("@"))
const Index = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: ReturnPath.RECIPIENT_INDEX_LIMIT - 1 }))

describe("a return path", () => {
  it.prop(
    "resolves to its email and recipient, in upper and lower case",
    {
      account_id: Id.AccountId,
      emailId: Id.EmailId,
      recipientIndex: Index,
      scope: Schema.Literals(["recipient", "domain"]),
    },
    ({ account_id, scope, ...one }) => {
      const to = scope === "domain" ? { ...one, scope } : one
      const bounced: ReturnPath.Bounced = { accountStart: account_id.slice(0, 19), ...to }
      const local = localPart(ReturnPath.make(KEY, "bounce.acme.test", { account_id, ...to }))
      assert.isAtMost(local.length, 64)
      assert.deepStrictEqual(ReturnPath.verify(KEY, local), Option.some(bounced))
      assert.deepStrictEqual(ReturnPath.verify(KEY, local.toUpperCase()), Option.some(bounced))
    },
  )

  it("is invalid with any one character changed", () => {
    const local = localPart(ReturnPath.make(KEY, "d", { account_id, emailId, recipientIndex: 3 }))
    for (let i = 0; i < local.length; i++) {
      const other = local.charAt(i) === "q" ? "r" : "q"
      assert.deepStrictEqual(
        ReturnPath.verify(KEY, local.slice(0, i) + other + local.slice(i + 1)),
        Option.none(),
        `at ${i}`,
      )
    }
  })

  it("is invalid under another key, truncated, extended or foreign", () => {
    const local = localPart(ReturnPath.make(KEY, "d", { account_id, emailId, recipientIndex: 0 }))
    assert.deepStrictEqual(ReturnPath.verify(new Uint8Array(32).fill(8), local), Option.none())
    for (const forged of [
      "",
      "b-",
      "postmaster",
      local.slice(0, -1),
      `${local}0`,
      ` ${local}`,
      `${local}\n`,
      local.replace("b-", "c-"),
      "b-é-é",
    ]) {
      assert.deepStrictEqual(ReturnPath.verify(KEY, forged), Option.none(), forged)
    }
  })

  it("does not change between releases", () => {
    assert.strictEqual(
      ReturnPath.make(KEY, "d.test", { account_id, emailId, recipientIndex: 0 }),
      "b-01m7ysmwp0e41861050r3gg28a0001m7ysmjxgf448e-88hyk4dwbahfva1q@d.test",
    )
  })

  it("refuses a recipient index above the limit", () => {
    for (const recipientIndex of [-1, 0.5, ReturnPath.RECIPIENT_INDEX_LIMIT]) {
      assert.throws(() => ReturnPath.make(KEY, "d", { account_id, emailId, recipientIndex }), RangeError)
    }
  })
})
