import * as DomainName from "@waybill/domain/values/DomainName"
import { Result, Schema } from "effect"
import { assert, describe, it } from "../../support/effectTest.ts"

const read = (text: string) => Result.merge(DomainName.parse(text))

describe("domain name", () => {
  it.for([
    ["Example.ORG", "example.org"],
    ["mail-1.example.org", "mail-1.example.org"],
    ["bücher.example", "xn--bcher-kva.example"],
    ["BÜCHER.example", "xn--bcher-kva.example"],
    ["straße.de", "xn--strae-oqa.de"],
    ["例え.テスト", "xn--r8jz45g.xn--zckzah"],
    ["xn--bcher-kva.example", "xn--bcher-kva.example"],
    ["1and1.com", "1and1.com"],
    ["3.14.example", "3.14.example"],
  ])("%s is normalised to %s", ([text, name]) => assert.strictEqual(read(text ?? ""), name))

  it.for([
    "",
    " ",
    "example",
    "localhost",
    ".example.org",
    "example.org.",
    "a..b",
    "-a.de",
    "a-.de",
    "a_b.de",
    "a b.de",
    "a@b.de",
    "http://a.de",
    "a.de/x",
    "a.de:80",
    "a.de?x",
    "a.de#x",
    "a%41.de",
    "a\\b.de",
    "1.2.3.4",
    "0x7f.0.0.1",
    "127.1",
    "[::1]",
    "a.1",
    "a.0x1",
    "*.a.de",
    "a\u0000.de",
    "a\n.de",
    `${"a".repeat(64)}.de`,
    `${"abcd.".repeat(50)}abcd`,
    "a".repeat(2000),
    "\u00ad.de",
    "xn--\u0080.de",
    // A joiner between Latin letters.
    "a\u200d.de",
  ])("%j is not a domain name", (text) => assert.match(read(text), /not a domain name|two labels|octets/u))

  it("a name is limited in octets, and its text in characters", () => {
    const long = (chars: number) => "abcdefghi.".repeat(101).slice(0, chars)
    assert.match(read(long(1000)), /^is 1000 octets/u)
    assert.strictEqual(read(long(1001)), "is over 253 octets")
    assert.strictEqual(read(long(253)), long(253))
    assert.match(read(long(254)), /^is 254 octets/u)
  })

  it.prop(
    "a parsed name parses to itself",
    { text: Schema.String },
    ({ text }) => {
      for (const input of [text, `${text}.de`, `a${text}.org`]) {
        const name = DomainName.parse(input)
        if (Result.isSuccess(name)) assert.deepStrictEqual(DomainName.parse(name.success), name)
      }
    },
    { arbitrary: { runs: 500 } },
  )
})

describe("reserved name", () => {
  it.for([
    "acme.test",
    "a.b.test",
    "x.example",
    "x.invalid",
    "x.localhost",
    "localhost",
    "example.com",
    "mail.example.net",
    "example.org",
  ])("%s is reserved", (name) => assert.isTrue(DomainName.isReserved(name)))
  it.for(["acme.com", "test.com", "mytest", "notexample.com", "example.com.de", "attest.de", "example.de"])(
    "%s is not reserved",
    (name) => assert.isFalse(DomainName.isReserved(name)),
  )
})
