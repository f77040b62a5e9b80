import { assert, it } from "@effect/vitest"
import * as Dns from "@waybill/mail/dns/Dns"
import * as Authentication from "@waybill/mail/reading/Authentication"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { setImmediate } from "node:timers/promises"
import * as DnsServer from "../../support/mail/dnsServer.ts"
import { longestTurn } from "../../support/longestTurn.ts"

const client = { address: "127.0.0.1", helo: "mx.example.org", from: "ana@a.test", receiver: "mx.test" }
const SIGNED = "DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=a.test; s=x; h=from; bh=A; b=A\r\n"
const MAIL = "From: a@a.test\r\n\r\nHello\r\n"
const MIB = 1024 * 1024

/** Each of them held up the library for seconds to minutes. */
const ENDLESS = {
  "a body of spaces": `${SIGNED}${MAIL}${" ".repeat(24 * MIB)}x`,
  "a body of blank lines": `${SIGNED}${MAIL}${" \r\n".repeat(8 * MIB)}x`,
  "a header of folds": `Subject: ${"\r\n ".repeat(300_000)}\r\n${SIGNED.replace("from", "from:subject")}${MAIL}`,
}
/** These are judged like any other. */
const LARGE = {
  "a field of folds": `Subject: ${"\r\n ".repeat(5_000)}\r\n${SIGNED}${MAIL}`,
  "a long field": `Subject: ${"a,".repeat(8_000)}\r\n${SIGNED}${MAIL}`,
  "a header of 1 MiB": `${SIGNED}Subject: ${"a, ".repeat(MIB / 3)}\r\n${MAIL}`,
  "24 MiB": `${SIGNED}${MAIL}${`${"x".repeat(76)}\r\n`.repeat((24 * MIB) / 78)}`,
  "20 signatures and a header of 48 KB": `${SIGNED.repeat(20)}${`Subject: ${"word ".repeat(200)}\r\n`.repeat(46)}${MAIL}`,
}

const nothing = Dns.Dns.of(new Proxy({}, { get: () => () => Effect.succeed(Dns.notFound("NXDOMAIN")) }) as never)

/** Judges a mail, and returns the longest time for which the event loop did nothing else. */
const judge = (mail: string, dns = nothing) =>
  Effect.gen(function* () {
    const bytes = Buffer.from(mail)
    const longest = longestTurn()
    const auth = yield* Effect.provideService(Authentication.judge(bytes, client, "inbound"), Dns.Dns, dns)
    return { auth, held_ms: longest() }
  })

// threat: blocked-loop
it.live.each(Object.entries(ENDLESS))("%s holds nobody up, and is judged no further", ([, mail]) =>
  Effect.gen(function* () {
    const { auth, held_ms } = yield* judge(mail)
    assert.strictEqual(auth.dmarc, "temperror")
    assert.isBelow(held_ms, 250)
  }),
)

it.live.each(Object.entries(LARGE))("a mail with %s is judged, and holds nobody up", ([, mail]) =>
  Effect.gen(function* () {
    const { auth, held_ms } = yield* judge(mail)
    assert.deepStrictEqual(new Set(auth.dkim.map(({ domain }) => domain)), new Set(["a.test"]))
    assert.strictEqual(auth.dmarc, "none")
    assert.isBelow(held_ms, 250)
  }),
)

it.live("looks up a bounded number of names for one mail", () =>
  Effect.gen(function* () {
    let asked = 0
    const counting = Dns.Dns.of(
      new Proxy({}, { get: () => () => Effect.sync(() => (asked++, Dns.notFound("NXDOMAIN"))) }) as never,
    )
    const bh = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    const many = Array.from({ length: 200 }, (_, nth) => SIGNED.replace("s=x", `s=x${nth}`).replace("bh=A", `bh=${bh}`))
    const { auth } = yield* judge(`${many.join("")}From: a@a.test\r\n\r\n`, counting)
    assert.isAtMost(asked, Authentication.MAX_LOOKUPS)
    assert.lengthOf(auth.dkim, 20)
  }),
)

it.effect("a name server that never answers holds a mail up for a bounded time", () =>
  Effect.gen(function* () {
    const names = ["a.test", "x._domainkey.a.test", "_dmarc.a.test", "_dmarc.test"]
    const { queries, server } = yield* DnsServer.listen(Object.fromEntries(names.map((name) => [name, "timeout"])))
    const judging = Authentication.judge(Buffer.from(`${SIGNED}${MAIL}`), client, "inbound")
    const dns = Dns.Dns.layer({ servers: [server] })
    const fiber = yield* Effect.forkChild(Effect.provide(judging, dns))
    while (queries.length < names.length) yield* Effect.promise(() => setImmediate())
    yield* TestClock.adjust(`${Authentication.JUDGED_WITHIN_SECONDS} seconds`)
    const { dmarc, spf } = yield* Fiber.join(fiber)
    assert.deepStrictEqual({ dmarc, spf }, { dmarc: "temperror", spf: "temperror" })
  }),
)
