import * as AttachmentLink from "@waybill/mail/tokens/AttachmentLink"
import { Option } from "effect"
import { assert, describe, it } from "../../support/effectTest.ts"
import { id } from "../../support/history.ts"

const [key, former, foreign] = [1, 2, 3].map((n) => new Uint8Array(32).fill(n)) as [Uint8Array, Uint8Array, Uint8Array]
const place = { account_id: id("AccountId"), mail_id: id("EmailId"), nth: 12 }
const EXPIRES = 1_800_000_000_000

describe("the token of an attachment's link", () => {
  const verify = (text: string, now = EXPIRES - 1) => AttachmentLink.verify([key, former], text, now)

  // threat: fetched-files
  it("is valid until it expires, under a former key too", () => {
    for (const each of [key, former]) {
      const token = AttachmentLink.token(each, place, EXPIRES)
      assert.deepStrictEqual(verify(token), Option.some(place))
      assert.isTrue(Option.isNone(verify(token, EXPIRES)))
    }
  })

  it("is invalid when changed or under another key", () => {
    const token = AttachmentLink.token(key, place, EXPIRES)
    for (let at = 0; at < token.length; at++) {
      const other = token[at] === "1" ? "2" : "1"
      assert.isTrue(Option.isNone(verify(token.slice(0, at) + other + token.slice(at + 1))), `at ${at}`)
      assert.isTrue(Option.isNone(verify(token.slice(0, at))), `up to ${at}`)
    }
    assert.isTrue(Option.isNone(verify(AttachmentLink.token(foreign, place, EXPIRES))))
    assert.isTrue(Option.isNone(verify(`${token}0`)))
  })
})
