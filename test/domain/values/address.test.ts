import * as Address from "@waybill/domain/values/Address"
import { Arbitrary, Result, Schema } from "effect"
import { assert, describe, it } from "../../support/effectTest.ts"

const read = (text: string) =>
  Result.merge(Result.map(Address.parse(text), ({ address, name }) => ({ address: String(address), name })))

describe("mailbox: accepted", () => {
  it.for<[string, string, string?]>([
    ["a@b.co", "a@b.co"],
    ["  a@b.co  ", "a@b.co"],
    ["<a@b.co>", "a@b.co"],
    ["Ana <a@b.co>", "a@b.co", "Ana"],
    ["Ana<a@b.co>", "a@b.co", "Ana"],
    ["Acme Inc. (Billing) <a@b.co>", "a@b.co", "Acme Inc. (Billing)"],
    ['"Acme, Inc." <a@b.co>', "a@b.co", "Acme, Inc."],
    ['"a \\"b\\" \\\\ c" <a@b.co>', "a@b.co", 'a "b" \\ c'],
    ['"a@evil.test" <a@b.co>', "a@b.co", "a@evil.test"],
    ['"<x>" <a@b.co>', "a@b.co", "<x>"],
    ['"" <a@b.co>', "a@b.co"],
    ["Ana.Maria+tag@Mail.Example.ORG", "Ana.Maria+tag@mail.example.org"],
    ["!#$%&'*+/=?^_`{|}~-@b.co", "!#$%&'*+/=?^_`{|}~-@b.co"],
    ["Bücher <info@Bücher.example>", "info@xn--bcher-kva.example", "Bücher"],
    ["用户@例子.测试", "用户@xn--fsqu00a.xn--0zwm56d"],
    ["ana@例子。测试", "ana@xn--fsqu00a.xn--0zwm56d"],
    ["u\u0308@b.co", "ü@b.co"],
    ["😀@b.co", "😀@b.co"],
    ["0123456789@0123456789.b.co", "0123456789@0123456789.b.co"],
    ['"first..last"@docomo.ne.jp', "first..last@docomo.ne.jp"],
    ['Ana <".ana."@docomo.ne.jp>', ".ana.@docomo.ne.jp", "Ana"],
    ['"ana"@b.co', "ana@b.co"],
    [`${"a".repeat(64)}@b.co`, `${"a".repeat(64)}@b.co`],
  ])("%s", ([text, address, name]) => assert.deepStrictEqual(read(text), { address, name }))
})

describe("mailbox: refused", () => {
  const notThere = /the part before the @ has a character that/u
  const misplaced = /the part before the @ has a dot at an end or two in a row; if it is so, quote it/u
  const named = /a name goes before an address in < >/u
  const noDomain = /the part after the @ /u
  it.for<[string, RegExp]>([
    ["", /it has no @/u],
    ["ana", /it has no @/u],
    ["@b.co", /the part before the @ is empty/u],
    ["a@", noDomain],
    ["a@b", /at least two labels/u],
    ["a@localhost", /at least two labels/u],
    ["a@b..co", noDomain],
    ["a@.b.co", noDomain],
    ["a@b.co.", noDomain],
    ["a@-b.co", noDomain],
    ["a@b-.co", noDomain],
    ["a@b_c.co", noDomain],
    ["a@[127.0.0.1]", noDomain],
    ["a@127.0.0.1", noDomain],
    ["a@0x7f.1", noDomain],
    ["a@b.123", noDomain],
    ["a@b%2eco.de", noDomain],
    ["a@b.co:25", noDomain],
    ["a@b.co/x", noDomain],
    ["a@b@c.co", /it has more than one @/u],
    ["a b@c.co", named],
    ["Ana a@b.co", named],
    [".a@b.co", misplaced],
    ["a.@b.co", misplaced],
    ["a..b@c.co", misplaced],
    ["a\u200bb@c.co", notThere],
    ['"a..\\"b"@c.co', /quoted local part/u],
    ['"a.."b"@c.co', /quoted local part/u],
    ['"a..@b"@c.co', /quoted local part/u],
    ['"a..b@c.co', /quoted local part/u],
    ['a.."b"@c.co', notThere],
    ['""@c.co', /the part before the @ is empty/u],
    ["a\u00a0b@c.co", named],
    ["a(comment)@b.co", notThere],
    ['"quoted local"@b.co', /quoted local part/u],
    ["a@b.co, d@e.fr", /several addresses; one is accepted/u],
    ["a@b.co,d@e.fr", /several addresses; one is accepted/u],
    ["a@b.co; Bob <d@e.fr>", /several addresses; one is accepted/u],
    ["Ana, Bob <d@e.fr>", /must be quoted/u],
    ["a@b.co <d@e.fr>", /must be quoted/u],
    ["<a@b.co> <d@e.fr>", /must be quoted/u],
    ['"a" b <d@e.fr>', /must be quoted/u],
    ['"a <d@e.fr>', /must be quoted/u],
    ["a@b.co>", /> without a matching </u],
    ["Ana <a@b.co", named],
    ["Ana <>", /it has no @/u],
    ["a@b.co\r\nBcc: x@y.zz", /control characters/u],
    ["Ana\nBcc: x@y.zz <a@b.co>", /control characters/u],
    ["A\u0000na <a@b.co>", /control characters/u],
    ["A\u0085na <a@b.co>", /control characters/u],
    ["A\u2028na <a@b.co>", /control characters/u],
    ["\ud800@b.co", /not well-formed/u],
    [`${"a".repeat(65)}@b.co`, /65 octets before the @; at most 64/u],
    [`${"ü".repeat(33)}@b.co`, /66 octets before the @; at most 64/u],
    [`a@${"b".repeat(64)}.co`, noDomain],
    [`a@${"bcde.".repeat(51)}co`, /257 octets; a domain name has at most 253/u],
    [`${"n".repeat(257)} <a@b.co>`, /name of 257 characters; at most 256/u],
    ["x".repeat(1001), /1001 characters; at most 1000/u],
  ])("%j", ([text, because]) => assert.match(String(read(text)), because))

  it("an address over 254 octets is refused, even if its parts are within their limits", () => {
    const host = (last: number) => `${"b".repeat(62)}.${"c".repeat(62)}.${"d".repeat(last)}`
    const local = "a".repeat(64)
    assert.strictEqual(`${local}@${host(63)}`.length, 254)
    assert.isTrue(Result.isSuccess(Address.parse(`${local}@${host(63)}`)))
    assert.match(String(read(`${local}@x.${host(62)}`)), /255 octets; an address has at most 254/u)
  })
})

describe("a mailbox", () => {
  it("a mailbox is formatted so that it parses back", () => {
    for (const text of [
      "Ana <a@b.co>",
      '"Acme, Inc." <a@b.co>',
      '"a \\"b\\" \\\\ c" <a@b.co>',
      '"x: (y)" <a@b.co>',
      "a@b.co",
    ]) {
      const mailbox = Result.getOrThrow(Address.parse(text))
      assert.strictEqual(Address.format(mailbox), text)
      assert.deepStrictEqual(Result.getOrThrow(Address.parse(Address.format(mailbox))), mailbox)
    }
  })

  it.prop(
    "a mailbox with any name is formatted so that it parses back",
    { name: Schema.String },
    ({ name }) => {
      const parsed = Address.parse(Address.format({ address: Address.Address.make("a@b.co"), name }))
      // A name that a header cannot hold is refused and never changes the recipient.
      if (Result.isSuccess(parsed)) assert.strictEqual(parsed.success.address, "a@b.co")
      else assert.match(parsed.failure, /control characters|well-formed|characters; at most/u)
    },
    { arbitrary: { runs: 500 } },
  )

  it.prop(
    "any text parses without an exception, and the result fits an event",
    { text: Schema.String },
    ({ text }) => {
      for (const input of [text, `${text}@b.co`, `a@${text}`, `${text} <a@b.co>`, `a@${text}.de`]) {
        const parsed = Address.parse(input)
        if (Result.isSuccess(parsed)) Schema.encodeSync(Address.MailboxObject)(parsed.success)
      }
    },
    { arbitrary: { runs: 500 } },
  )

  it("a name has up to 256 characters, a mailbox up to 1000", () => {
    assert.deepStrictEqual(read(`${"n".repeat(256)} <a@b.co>`), { address: "a@b.co", name: "n".repeat(256) })
    assert.match(String(read(`${"n".repeat(257)} <a@b.co>`)), /name of 257 characters; at most 256/u)
    assert.deepStrictEqual(read("a@b.co".padEnd(1000)), { address: "a@b.co", name: undefined })
    assert.match(String(read("a@b.co".padEnd(1001))), /is 1001 characters; at most 1000/u)
  })

  it("the schema of events accepts what the parser returns, including digits", () => {
    const shaped = Schema.is(Address.Address)
    for (const text of ["0123456789@0123456789.b.co", "!#$%&'*+/=?^_`{|}~-@b.co", "😀@b.co"]) {
      assert.isTrue(shaped(Result.getOrThrow(Address.parseAddress(text))), text)
    }
    for (const text of ["", "a@", "@b.co", "a b@b.co", "a,b@b.co", "a<b@b.co", "a@B.co", "a@b.co."]) {
      assert.isFalse(shaped(text), text)
    }
  })

  it("a mailbox is text in a request and an object in memory", () => {
    const decoded = Schema.decodeUnknownSync(Address.Mailbox)("Ana <Ana@B.co>")
    assert.deepStrictEqual(decoded, { address: Address.Address.make("Ana@b.co"), name: "Ana" })
    assert.strictEqual(Schema.encodeSync(Address.Mailbox)(decoded), "Ana <Ana@b.co>")
    assert.throws(() => Schema.decodeUnknownSync(Address.Mailbox)("nobody"), /it has no @/u)
  })

  it("an address is held without quotes, written with those that its dots need, and found with or without", () => {
    for (const held of ["first..last@docomo.ne.jp", ".a@b.co", "a.@b.co"]) {
      const written = `"${held.slice(0, held.indexOf("@"))}"${held.slice(held.indexOf("@"))}`
      for (const text of [held, written]) {
        assert.strictEqual(Address.quote(text), written)
        assert.strictEqual(Result.getOrThrow(Address.parseHeld(text)), held)
        assert.strictEqual(Address.keyOfText(text.toUpperCase()), held)
        assert.strictEqual(Schema.decodeUnknownSync(Address.FromText)(text), held)
      }
      const mailbox = { address: Result.getOrThrow(Address.parseHeld(held)), name: "Ana" }
      assert.strictEqual(Address.format(mailbox), `Ana <${written}>`)
      assert.deepStrictEqual(Result.getOrThrow(Address.parse(Address.format(mailbox))), mailbox)
    }
    for (const text of ["a.b@b.co", "", "a", "@", "..", "a@b..c", '"a b"@c.de'])
      assert.strictEqual(Address.quote(text), text)
  })

  it("two spellings of an address have one key, and the address keeps its case", () => {
    const address = Result.getOrThrow(Address.parseAddress("Ana.B@Example.org"))
    assert.strictEqual(address, "Ana.B@example.org")
    assert.strictEqual(Address.keyOf(address), "ana.b@example.org")
    assert.strictEqual(Address.domainOf(address), "example.org")
    assert.strictEqual(Address.localOf(address), "Ana.B")
  })

  it("an address is parsed the same whether its domain is in lower case, as most are, or not", () => {
    const labels = [
      "b",
      "0",
      "xn--bcher-kva",
      "xn--",
      "a-b",
      "-a",
      "a-",
      "0x1f",
      "a_b",
      "",
      "ü",
      "l".repeat(63),
      "l".repeat(64),
    ]
    const domains = labels.flatMap((a) => labels.flatMap((b) => [`${a}.${b}`, `${a}.${b}.co`, `x.${a}.${b}`]))
    const locals = [..."!\"#$%&'*+/=?^_`{|}~-().,:;<>@[\\] \u0000\u007f\u212aüA0"].flatMap((each) => [
      each,
      `a${each}b`,
    ])
    locals.push("", "a..b", ".a", "a.b.c", "xn--a", "a".repeat(64), "a".repeat(65))
    const size = (local: number, last: number) => [
      `${"a".repeat(local)}@${`${"l".repeat(60)}.`.repeat(3)}${"m".repeat(last)}`,
    ]
    const texts = [
      ...locals.flatMap((local) => [`${local}@b.co`, `${local}@b`]),
      ...domains.map((domain) => `a@${domain}`),
      ...[58, 60, 62].flatMap((last) => [5, 7, 8, 9, 10, 64].flatMap((local) => size(local, last))),
    ]
    for (const text of texts) {
      const upper = text.slice(0, text.lastIndexOf("@")) + text.slice(text.lastIndexOf("@")).toUpperCase()
      for (const parse of [Address.parse, Address.parseAddress]) assert.deepStrictEqual(parse(text), parse(upper), text)
    }
  })

  it.prop("a generated address fits an event", { mailbox: Arbitrary.schema(Address.MailboxObject) }, ({ mailbox }) =>
    Schema.is(Address.MailboxObject)(JSON.parse(JSON.stringify(mailbox))),
  )
})
