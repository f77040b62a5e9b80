import { assert, describe, it } from "@effect/vitest"
import * as Header from "@waybill/domain/Header"
import * as Tag from "@waybill/domain/Tag"
import { Schema } from "effect"

describe("a header", () => {
  it.for(["X-Order", "List-Unsubscribe", "List-Unsubscribe-Post", "Reply-To", "In-Reply-To", "Contents", "x!#$%&"])(
    "is the sender's own when it is %s",
    (name) => assert.isFalse(Header.isOwned(name)),
  )
  it.for([
    "From",
    "TO",
    "cc",
    "Bcc",
    "Subject",
    "Date",
    "Message-ID",
    "message-id",
    "DKIM-Signature",
    "Return-Path",
    "Received",
    "Content-Type",
    "content-transfer-encoding",
    "Content-",
    "MIME-Version",
  ])("is the service's when it is %s", (name) => assert.isTrue(Header.isOwned(name)))
})

describe("a tag", () => {
  it("has 1 to 64 characters of a line", () => {
    assert.deepStrictEqual(
      ["a", "ä".repeat(64), "", "a".repeat(65), "a\nb", "\ud800"].map((tag) => Schema.is(Tag.Tag)(tag)),
      [true, true, false, false, false, false],
    )
  })
})
