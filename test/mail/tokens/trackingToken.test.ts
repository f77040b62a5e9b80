import * as TrackedLink from "@waybill/mail/compose/TrackedLink"
import * as TrackingToken from "@waybill/mail/tokens/TrackingToken"
import { Option } from "effect"
import { assert, describe, it } from "../../support/effectTest.ts"
import { id } from "../../support/history.ts"

const [key, former, foreign] = [1, 2, 3].map((n) => new Uint8Array(32).fill(n)) as [Uint8Array, Uint8Array, Uint8Array]
const mail = { account_id: id("AccountId"), email_id: id("EmailId") }
const click = { ...mail, url: "https://x.test/?a=1&b=%C3%BC#c" }

describe("the token of a tracked mail", () => {
  it("contains the mail and the link's target, and is valid under a former key", () => {
    for (const each of [key, former]) {
      const opened = TrackingToken.verifyOpen([key, former], TrackingToken.ofOpen(each, mail))
      assert.deepStrictEqual(opened, Option.some(mail))
      const clicked = TrackingToken.verifyClick([key, former], TrackingToken.ofClick(each, click))
      assert.deepStrictEqual(clicked, Option.some(click))
    }
    assert.strictEqual(TrackingToken.ofClick(key, click), TrackingToken.ofClick(key, click))
  })

  it("is invalid when changed, under another key, or for another purpose", () => {
    const token = TrackingToken.ofClick(key, click)
    const verify = (text: string) => Option.isSome(TrackingToken.verifyClick([key], text))
    assert.isTrue(verify(token))
    for (let at = 0; at < token.length; at++) {
      const other = token[at] === "0" ? "1" : "0"
      assert.isFalse(verify(token.slice(0, at) + other + token.slice(at + 1)), `at ${at}`)
      assert.isFalse(verify(token.slice(0, at)), `up to ${at}`)
    }
    for (const wrong of [
      "",
      "x",
      `${token}0`,
      `${token}=`,
      ` ${token}`,
      `${token}\n`,
      token.toUpperCase(),
      "0".repeat(100_000),
    ])
      assert.isFalse(verify(wrong), wrong.slice(0, 200))
    assert.isFalse(verify(TrackingToken.ofClick(foreign, click)))
    assert.isFalse(verify(TrackingToken.ofOpen(key, mail)))
    assert.isTrue(Option.isNone(TrackingToken.verifyOpen([key], token)))
    assert.isTrue(Option.isNone(TrackingToken.verifyOpen([key], `${TrackingToken.ofOpen(key, mail)}aa`)))
  })

  // threat: tracked-links
  it("never redirects outside http and https", () => {
    for (const url of ["javascript:alert(1)", "https://x.test/\r\nSet-Cookie: a=b", "https://x.test/ü", "//x.test", ""])
      assert.isTrue(Option.isNone(TrackingToken.verifyClick([key], TrackingToken.ofClick(key, { ...mail, url }))), url)
    const longest = `https://x.test/${"x".repeat(TrackedLink.MAX_TRACKED_URL_CHARS)}`.slice(
      0,
      TrackedLink.MAX_TRACKED_URL_CHARS,
    )
    const token = TrackingToken.ofClick(key, { ...mail, url: longest })
    assert.isAtMost(token.length, TrackingToken.MAX_TOKEN_CHARS)
    assert.isTrue(Option.isSome(TrackingToken.verifyClick([key], token)))
  })
})
