import * as Header from "@waybill/domain/email/Header"
import * as Labels from "@waybill/domain/email/Labels"
import { Schema } from "effect"
import { assert, describe, it } from "../../support/effectTest.ts"

describe("header", () => {
  it.for(["X-Order", "List-Unsubscribe", "List-Unsubscribe-Post", "Reply-To", "In-Reply-To", "Contents", "x!#$%&"])(
    "%s is allowed",
    (name) => assert.isFalse(Header.isServiceHeader(name)),
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
  ])("%s is not allowed", (name) => assert.isTrue(Header.isServiceHeader(name)))
})

describe("tag", () => {
  it("a tag has 1 to 64 characters in one line", () => {
    assert.deepStrictEqual(
      ["a", "ä".repeat(64), "", "a".repeat(65), "a\nb", "\ud800"].map((tag) => Schema.is(Labels.Tag)(tag)),
      [true, true, false, false, false, false],
    )
  })
})
