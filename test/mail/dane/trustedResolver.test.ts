import * as DnsMessage from "@waybill/mail/dane/DnsMessage"
import * as TrustedResolver from "@waybill/mail/dane/TrustedResolver"
import { Effect } from "effect"
import * as packet from "dns-packet"
import * as dgram from "node:dgram"
import { assert, describe, it } from "../../support/effectTest.ts"
import * as DnsServer from "../../support/mail/dnsServer.ts"

const resolverAt = (text: string) => {
  const server = TrustedResolver.parse(text)
  if (server === undefined) throw new Error(`${text} is not an address`)
  return TrustedResolver.make({ server, query_timeout_ms: 5_000, query_tries: 1 })
}

describe("a trusted resolver", () => {
  it("is an address, with or without a port", () => {
    assert.deepStrictEqual(TrustedResolver.parse("127.0.0.1"), { host: "127.0.0.1", port: 53 })
    assert.deepStrictEqual(TrustedResolver.parse("127.0.0.1:5353"), { host: "127.0.0.1", port: 5353 })
    assert.deepStrictEqual(TrustedResolver.parse("::1"), { host: "::1", port: 53 })
    assert.deepStrictEqual(TrustedResolver.parse("[::1]:5353"), { host: "::1", port: 5353 })
    for (const text of ["", "resolver", "localhost:53", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1,::1", "[::1"])
      assert.isUndefined(TrustedResolver.parse(text), text)
  })

  it.effect("tells signed answers from others, also that there is nothing", function* () {
    const dns = yield* DnsServer.listen({
      "signed.test": { MX: [[10, "mx.signed.test"]] },
      "plain.test": { MX: [[10, "mx.plain.test"]] },
      "alias.signed.test": { CNAME: "plain.test" },
    })
    dns.sign("signed.test")
    const resolver = resolverAt(dns.server)
    const seen = yield* Effect.forEach(["signed.test", "plain.test", "alias.signed.test", "none.signed.test"], (name) =>
      Effect.map(resolver.query(name, "MX"), (all) => [all.answer._tag, all.isSecure, all.name] as const),
    )
    assert.deepStrictEqual(seen, [
      ["Found", true, "signed.test"],
      ["Found", false, "plain.test"],
      ["Found", false, "plain.test"],
      ["NotFound", true, "none.signed.test"],
    ])
  })

  it.effect("asks over TCP when an answer does not fit", function* () {
    const certificate = Buffer.alloc(1_500, 1)
    const dns = yield* DnsServer.listen({
      "_25._tcp.mx.test": { TLSA: [{ usage: 3, selector: 0, matchingType: 0, certificate }] },
    })
    const { answer } = yield* resolverAt(dns.server).query("_25._tcp.mx.test", "TLSA")
    assert.deepStrictEqual(
      dns.queries.map(({ over }) => over),
      ["udp", "tcp"],
    )
    assert.isTrue(answer._tag === "Found" && answer.records[0]?.data.equals(certificate))
  })

  // threat: unsigned-mail
  it.effect("takes no answer to another question, nor one with another number", function* () {
    const socket = yield* Effect.acquireRelease(
      Effect.promise(
        () =>
          new Promise<dgram.Socket>((resolve) => {
            const opened = dgram.createSocket("udp4")
            opened.bind(0, "127.0.0.1", () => resolve(opened))
          }),
      ),
      (opened) => Effect.sync(() => opened.close()),
    )
    socket.on("message", (message, from) => {
      const { id = 0, questions = [] } = packet.decode(message)
      const answer = (number: number, name: string, exchange: string) =>
        socket.send(
          packet.encode({
            type: "response",
            id: number,
            flags: packet.AUTHENTIC_DATA,
            questions: [{ type: "MX", name }],
            answers: [{ type: "MX", name, ttl: 1, data: { preference: 10, exchange } }],
          }),
          from.port,
          from.address,
        )
      socket.send(message, from.port, from.address)
      socket.send(message.subarray(0, 20), from.port, from.address)
      answer(id ^ 1, questions[0]?.name ?? "", "evil.test")
      answer(id, "other.test", "evil.test")
      answer(id, questions[0]?.name ?? "", "mx.test")
    })
    const { answer } = yield* resolverAt(`127.0.0.1:${socket.address().port}`).query("acme.test", "MX")
    assert.isTrue(answer._tag === "Found" && answer.records[0]?.exchange === "mx.test")
  })

  it.effect("that nobody runs is unavailable, and names that DNS cannot carry do not exist", function* () {
    const dns = yield* Effect.scoped(DnsServer.listen())
    const { answer } = yield* resolverAt(dns.server).query("acme.test", "MX")
    assert.strictEqual(answer._tag, "Unavailable")
    for (const name of ["", "a..test", `${"a".repeat(64)}.test`, `${"a.".repeat(130)}test`])
      assert.deepStrictEqual((yield* resolverAt(dns.server).query(name, "MX")).answer, {
        _tag: "NotFound",
        reason: "NXDOMAIN",
      })
  })
})

describe("a message of DNS", () => {
  const answer = packet.encode({
    type: "response",
    id: 7,
    flags: packet.AUTHENTIC_DATA,
    questions: [{ type: "MX", name: "acme.test" }],
    answers: [
      { type: "CNAME", name: "acme.test", ttl: 1, data: "mail.acme.test" },
      { type: "MX", name: "mail.acme.test", ttl: 1, data: { preference: 10, exchange: "MX.acme.test" } },
      { type: "TXT", name: "acme.test", ttl: 1, data: "skipped" },
    ],
  })

  it("is read like everybody reads it", () => {
    const message = DnsMessage.decode(answer)
    assert.deepInclude(message, { id: 7, isResponse: true, isTruncated: false, isAuthentic: true, code: 0 })
    assert.deepStrictEqual(message?.answers, [
      { type: "CNAME", name: "acme.test", target: "mail.acme.test" },
      { type: "MX", name: "mail.acme.test", preference: 10, exchange: "mx.acme.test" },
    ])
  })

  it("that is cut, or has one octet changed, is read to an end", () => {
    for (let length = 0; length < answer.length; length++) DnsMessage.decode(answer.subarray(0, length))
    for (let at = 0; at < answer.length; at++)
      for (const value of [0, 1, 0x3f, 0x40, 0xc0, 0xff]) {
        const changed = Buffer.from(answer)
        changed[at] = value
        DnsMessage.decode(changed)
      }
    assert.isUndefined(DnsMessage.decode(answer.subarray(0, answer.length - 1)))
  })

  it("whose name points at itself, or forwards, is none", () => {
    for (const target of [12, 14, 40]) {
      const looped = Buffer.alloc(60)
      looped.writeUInt16BE(1, 4)
      looped.writeUInt16BE(0xc000 | target, 12)
      assert.isUndefined(DnsMessage.decode(looped))
    }
  })
})
