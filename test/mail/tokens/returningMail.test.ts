import { assert, describe, it } from "@effect/vitest"
import type { EmailId } from "@waybill/domain/values/Id"
import * as ForwardMark from "@waybill/mail/tokens/ForwardMark"
import * as ReplyAddress from "@waybill/mail/tokens/ReplyAddress"
import { Option } from "effect"
import { randomBytes } from "node:crypto"

const KEY = randomBytes(32)
const OLD = randomBytes(32)
const ID = "msg_01m7ynaym0e008000000000001" as EmailId

describe("the address that answers to an email go to", () => {
  it("names the email under any key of the instance, in any case, and fits into a local part", () => {
    const local = ReplyAddress.make(OLD, ID)
    assert.isAtMost(local.length, 64)
    assert.deepStrictEqual(ReplyAddress.verify([KEY, OLD], local.toUpperCase()), Option.some(ID))
  })

  it("names nothing if it is forged, cut, of another use, or made under another key", () => {
    const local = ReplyAddress.make(KEY, ID)
    const other = local.replace("0001-", "0002-")
    for (const text of [other, local.slice(0, -1), `${local}0`, `x${local}`, local.replace(/^r/u, "b"), "", "r-"])
      assert.isTrue(Option.isNone(ReplyAddress.verify([KEY], text)), text)
    assert.isTrue(Option.isNone(ReplyAddress.verify([OLD], local)))
    assert.isTrue(Option.isNone(ReplyAddress.verify([], local)))
  })
})

describe("the mark of a forward", () => {
  const head = (...addresses: ReadonlyArray<string>) =>
    ["From: a@b.test", ...addresses.map((each) => `x-waybill-forwarded: ${ForwardMark.make(KEY, each)} `), ""].join(
      "\r\n",
    )

  it("is known for its own address alone", () => {
    const marks = ForwardMark.readAll(head("Support@acme.test", "b@acme.test"))
    assert.lengthOf(marks, 2)
    for (const address of ["support@acme.test", "B@acme.test"])
      assert.isTrue(ForwardMark.has([OLD, KEY], address, marks))
    assert.isFalse(ForwardMark.has([KEY], "c@acme.test", marks))
    assert.isFalse(ForwardMark.has([OLD], "b@acme.test", marks))
    assert.isFalse(ForwardMark.has([KEY], "b@acme.test", ["0".repeat(16)]))
    assert.deepStrictEqual(
      ForwardMark.readAll("X-Waybill-Forwarded: no mark\r\nSubject: x-waybill-forwarded: 0\r\n"),
      [],
    )
  })

  it("ends the way of a mail that has too many", () => {
    const many = Array.from({ length: ForwardMark.MAX_MARKS + 5 }, (_, nth) => `${nth}@acme.test`)
    assert.isTrue(ForwardMark.has([KEY], "new@acme.test", ForwardMark.readAll(head(...many))))
    assert.isFalse(ForwardMark.has([KEY], "new@acme.test", ForwardMark.readAll(head(...many.slice(0, 20)))))
  })
})
