import type { Answered } from "@waybill/domain/inbound/Reply"
import * as Reply from "@waybill/domain/inbound/Reply"
import { assert, describe, it } from "../../support/effectTest.ts"

const MAIL: Answered = {
  envelope: { from: "bounce@example.org" },
  from: { address: "ana@example.org", name: "Ana" },
  reply_to: [],
  subject: "Your order",
  message_id: "<b@example.org>",
  references: ["<a@example.org>"],
}

describe("an answer to a received mail", () => {
  it("goes to Reply-To, or the author, or the return path", () => {
    const to = (mail: Partial<Answered>) => Reply.recipientsOf({ ...MAIL, ...mail }).map(({ address }) => address)
    assert.deepStrictEqual(Reply.recipientsOf(MAIL), [{ address: "ana@example.org", name: "Ana" }] as never)
    const reply_to = [{ address: "no address" }, { address: "desk@example.org" }]
    assert.deepStrictEqual(to({ reply_to }), ["desk@example.org"])
    assert.deepStrictEqual(to({ from: null }), ["bounce@example.org"])
    assert.deepStrictEqual(to({ from: { address: "x" }, envelope: { from: "" } }), [])
    const crowd = Array.from({ length: 100 }, (_, nth) => ({ address: `v${nth}@example.org` }))
    assert.lengthOf(to({ reply_to: crowd }), Reply.MAX_ADDRESSES)
    // A name that no message can have.
    assert.deepStrictEqual(Reply.recipientsOf({ ...MAIL, from: { address: "ana@example.org", name: "A\nBcc: x" } }), [
      { address: "ana@example.org" },
    ] as never)
  })

  it("has one Re: before the subject, in one line", () => {
    const subject = (subject: string | null) => Reply.subjectOf({ ...MAIL, subject })
    assert.deepStrictEqual(
      ["Your order", "RE: Your order", null, "a\r\nBcc: x", "x".repeat(2_000)].map((text) =>
        subject(text).slice(0, 20),
      ),
      ["Re: Your order", "RE: Your order", "Re:", "Re: a Bcc: x", `Re: ${"x".repeat(16)}`],
    )
    assert.strictEqual(subject("x".repeat(2_000)).length, 998)
  })

  it("refers to the mail and those before it, as far as a header has space", () => {
    assert.deepStrictEqual(Reply.headersOf(MAIL), {
      "In-Reply-To": "<b@example.org>",
      References: "<a@example.org> <b@example.org>",
    })
    assert.deepStrictEqual(Reply.headersOf({ ...MAIL, message_id: null }), {})
    assert.deepStrictEqual(Reply.headersOf({ ...MAIL, message_id: "<ü@example.org>" }), {})
    const references = Array.from({ length: 100 }, (_, nth) => `<${nth}${"x".repeat(100)}@example.org>`)
    const { References = "" } = Reply.headersOf({ ...MAIL, references })
    assert.isBelow(References.length, 3_100)
    assert.include(References, "<99x")
    assert.notInclude(References, "<1x")
  })
})
