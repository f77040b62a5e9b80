import { assert, describe, it } from "@effect/vitest"
import * as Header from "@waybill/domain/Header"
import * as Tag from "@waybill/domain/Tag"
import { Exit, Schema } from "effect"

const problem = <S extends Schema.Codec<unknown, unknown>>(schema: S, value: unknown): string => {
  const exit = Schema.decodeUnknownExit(schema)(value)
  return Exit.isSuccess(exit) ? "none" : String(exit.cause)
}

describe("a custom header", () => {
  it.for(["X-Order", "List-Unsubscribe", "List-Unsubscribe-Post", "Reply-To", "In-Reply-To", "x!#$%&'*+.^_`|~1"])(
    "may be %s",
    (name) => assert.strictEqual(problem(Header.Name, name), "none"),
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
  ])("may not be %s, which the service owns", (name) =>
    assert.match(problem(Header.Name, name), /is set by the service/u),
  )
  it.for(["", "X Order", "X:Order", "X-Ördér", "X\r\nBcc", "X\u0000", "\tX"])("may not be %j", (name) =>
    assert.match(problem(Header.Name, name), /printable ASCII/u),
  )
  it("may not have a name of 101 characters", () => assert.match(problem(Header.Name, "x".repeat(101)), /100/u))
  it.for(["a\r\nBcc: x@y.zz", "a\nb", "a\rb", "a\u0000b"])("may not hold %j", (value) => {
    assert.match(problem(Header.Value, value), /CR, LF or NUL/u)
    assert.match(problem(Header.Subject, value), /CR, LF or NUL/u)
  })
  it("may not hold what cannot be folded into a line", () => {
    assert.strictEqual(problem(Header.Value, `${"x".repeat(900)} ${"y".repeat(900)}`), "none")
    assert.match(problem(Header.Value, "x".repeat(901)), /901 octets without a space/u)
    assert.match(problem(Header.Subject, "ü".repeat(451)), /902 octets without a space/u)
    assert.match(problem(Header.Value, "\ud800"), /well-formed/u)
  })
  it("ends at 4000 characters", () => {
    assert.strictEqual(problem(Header.Value, "x ".repeat(2_000)), "none")
    assert.match(problem(Header.Value, `${"x ".repeat(2_000)}x`), /4000/u)
  })
  it("has at most 49 others beside it", () => {
    const headers = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`X-${i}`, "v"]))
    assert.strictEqual(problem(Header.Headers, headers(50)), "none")
    assert.match(problem(Header.Headers, headers(51)), /takes at most 50 headers; 51 were given/u)
  })
})

describe("a subject", () => {
  it("may be empty or in any script", () => {
    for (const subject of ["", "領収書 🎉", "a\tb"]) assert.strictEqual(problem(Header.Subject, subject), "none")
  })
  it("ends at 998 characters", () => {
    assert.strictEqual(problem(Header.Subject, "ab ".repeat(332)), "none")
    assert.match(problem(Header.Subject, "ab ".repeat(333)), /998/u)
  })
})

describe("a tag", () => {
  it("has 1 to 64 characters of a line", () => {
    assert.deepStrictEqual(
      ["a", "ä".repeat(64), "", "a".repeat(65), "a\nb", "\ud800"].map((tag) => Schema.is(Tag.Tag)(tag)),
      [true, true, false, false, false, false],
    )
  })
})
