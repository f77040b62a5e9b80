import * as Dns from "@waybill/mail/dns/Dns"
import type { Attempt } from "@waybill/store/webhooks/WebhookDeliveries"
import { Duration, Effect, Logger } from "effect"
import { readFileSync } from "node:fs"
import * as WebhookCaller from "../../../apps/server/src/worker/webhooks/WebhookCaller.ts"
import { assert, describe, it } from "../../support/effectTest.ts"
import * as DnsServer from "../../support/mail/dnsServer.ts"
import { dnsZones } from "../../support/mail/dnsZones.ts"
import * as Receiver from "../../support/web/WebhookReceiver.ts"
import * as WallClock from "../../support/WallClock.ts"
import { networks } from "../../support/web/Webhooks.ts"

const tls = (file: string) => readFileSync(new URL(`../../fixtures/tls/${file}`, import.meta.url), "utf8")

const secrets = [`whsec_${Buffer.alloc(24, 1).toString("base64")}`]

/** The same for each cause, since a difference would let customers ask the operator's DNS for names. */
const NO_ADDRESS =
  "has no public address that may be called: its name does not exist, cannot be looked up, or leads to a private network"

/** Time limit of calls; other calls answer in a fraction of it. */
const ONE_IS_SILENT = Duration.seconds(3)

/** Calls a URL like a node with these allowed networks. */
const calling = (options: WebhookCaller.Options, dns?: DnsServer.DnsServer) =>
  Effect.map(
    WebhookCaller.make(options),
    (call) => (url: string) =>
      call({ url, id: "evt_1", body: "{}", secrets, svixHeaders: false, ecdsa: false }).pipe(
        Effect.provide(dns === undefined ? dnsZones({}) : Dns.Dns.layer({ servers: [dns.server] })),
      ),
  )

describe("the address of a webhook", () => {
  const inward: ReadonlyArray<string> = [
    "127.0.0.1",
    "127.1",
    "2130706433",
    "017700000001",
    "0177.0.0.1",
    "0x7f000001",
    "0x7f.1",
    "１２７.0.0.1",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[64:ff9b::7f00:1]",
    "localhost",
    "hooks.localhost",
    "0.0.0.0",
    "[::]",
    "10.0.0.7",
    "172.16.0.1",
    "192.168.1.1",
    "[fc00::1]",
    "100.64.0.1",
    "169.254.169.254",
    "2852039166",
    "[::ffff:a9fe:a9fe]",
    "[fe80::1]",
    "[fd00:ec2::254]",
  ]
  // threat: internal-addresses
  it.live.each(inward)("is refused when it is %s", (host) =>
    Effect.gen(function* () {
      const receiver = yield* Receiver.listen()
      const call = yield* calling({ allowedNetworks: [] })
      for (const scheme of ["http", "https"]) {
        const attempt = yield* call(`${scheme}://${host}:${receiver.port}/`)
        assert.strictEqual(attempt.status, null)
        assert.include(attempt.error, "has no public address")
      }
      assert.strictEqual(receiver.connections(), 0)
    }),
  )

  it.live("is allowed in any notation if the operator allows it", function* () {
    const receiver = yield* Receiver.listen()
    const call = yield* calling({ allowedNetworks: networks("127.0.0.1/32") })
    for (const host of ["127.0.0.1", "2130706433", "0x7f.1", "localhost"]) {
      const attempt = yield* call(`http://${host}:${receiver.port}/`)
      assert.deepStrictEqual([attempt.status, attempt.address], [204, "127.0.0.1"])
    }
    for (const host of ["127.0.0.2", "10.0.0.1"]) {
      assert.include((yield* call(`http://${host}:${receiver.port}/`)).error, "has no public address")
    }
  })

  it.live("is refused if a name resolves to it", function* () {
    const receiver = yield* Receiver.listen()
    const dns = yield* DnsServer.listen({
      "inward.test": { A: ["127.0.0.1"] },
      "metadata.test": { A: ["169.254.169.254"] },
      "mapped.test": { AAAA: ["::ffff:127.0.0.1"] },
      "alias.test": { CNAME: "inward.test" },
    })
    const call = yield* calling({ allowedNetworks: [] }, dns)
    for (const name of ["inward.test", "metadata.test", "mapped.test", "alias.test"]) {
      const { address, error } = yield* call(`https://${name}:${receiver.port}/`)
      assert.deepStrictEqual([address, error], [null, `${name} ${NO_ADDRESS}`])
    }
    assert.strictEqual(receiver.connections(), 0)
  })

  // threat: internal-names
  it.live("does not reveal the operator's DNS to a customer, and the log has the reason", function* () {
    const dns = yield* DnsServer.listen({
      "db.internal.test": { A: ["10.0.0.7"] },
      "v6.internal.test": { AAAA: ["fd00::7"] },
      "text.internal.test": { TXT: ["here"] },
      "sick.internal.test": "SERVFAIL",
    })
    const logged: Array<string> = []
    const log = Logger.make<unknown, void>(({ message }) => void logged.push(JSON.stringify(message)))
    const call = yield* calling({ allowedNetworks: [] }, dns)
    const seen: Array<unknown> = []
    const hosts = ["db", "v6", "text", "sick", "nobody"].map((label) => `${label}.internal.test`)
    for (const host of hosts) {
      const { address, duration_ms, error, response_body, response_headers, status } = yield* call(
        `https://${host}/?token=secret`,
      ).pipe(Effect.provide(Logger.layer([log])))
      const words = error?.replace(host, "HOST")
      seen.push({ address, duration_ms, words, response_body, response_headers, status })
    }
    // The error is the same for a private address, another record type, a failure and an unknown name.
    for (const each of seen) assert.deepStrictEqual(each, seen[0])
    assert.deepInclude(seen[0], {
      address: null,
      duration_ms: 0,
      words: `HOST ${NO_ADDRESS}`,
    })
    assert.include(logged[0], "10.0.0.7")
    assert.include(logged[4], "NXDOMAIN")
    assert.notInclude(logged.join(), "secret")
    // Each event, and each repetition of its call, would write a line.
    yield* call(`https://${hosts[0] ?? ""}/?token=secret`).pipe(Effect.provide(Logger.layer([log])))
    assert.lengthOf(logged, hosts.length)
  })

  // threat: internal-addresses
  it.live("is resolved once per call, which uses that result", function* () {
    const allowed = yield* Receiver.listen()
    const forbidden = yield* Receiver.listen({ host: "127.0.0.2", port: allowed.port })
    // The first look-up (A and AAAA) returns an allowed address, later ones a private one.
    const dns = yield* DnsServer.listen({
      "rebind.test": (asked) => ({ A: [asked < 2 ? "127.0.0.1" : "127.0.0.2"] }),
    })
    const call = yield* calling({ allowedNetworks: networks("127.0.0.1/32") }, dns)
    const url = `http://rebind.test:${allowed.port}/hook`
    const first = yield* call(url)
    assert.deepStrictEqual([first.status, first.address], [204, "127.0.0.1"])
    assert.strictEqual(allowed.calls[0]?.headers["host"], `rebind.test:${allowed.port}`)
    assert.deepStrictEqual(dns.queries.map(({ type }) => type).toSorted(), ["A", "AAAA"])
    const second = yield* call(url)
    assert.include(second.error, "has no public address")
    assert.deepStrictEqual([allowed.calls.length, forbidden.connections()], [1, 0])
  })

  it.live("is skipped if it is refused and the name has another", function* () {
    const receiver = yield* Receiver.listen()
    const dns = yield* DnsServer.listen({ "both.test": { A: ["10.0.0.1", "127.0.0.1"] } })
    const call = yield* calling({ allowedNetworks: networks("127.0.0.0/8") }, dns)
    const attempt = yield* call(`http://both.test:${receiver.port}/`)
    assert.deepStrictEqual([attempt.status, attempt.address], [204, "127.0.0.1"])
  })

  it.live("is the new one after the name moves, although a connection to the old one is open", function* () {
    const old = yield* Receiver.listen()
    const moved = yield* Receiver.listen({ host: "127.0.0.2", port: old.port })
    const dns = yield* DnsServer.listen({
      "moving.test": (asked) => ({ A: [asked < 2 ? "127.0.0.1" : "127.0.0.2"] }),
    })
    const call = yield* calling({ allowedNetworks: networks("127.0.0.0/8") }, dns)
    for (const address of ["127.0.0.1", "127.0.0.2"]) {
      assert.strictEqual((yield* call(`http://moving.test:${old.port}/`)).address, address)
    }
    assert.deepStrictEqual([old.calls.length, moved.calls.length], [1, 1])
  })

  it.live("is not called over plain http if it is public", function* () {
    const dns = yield* DnsServer.listen({ "public.test": { A: ["1.1.1.1"] } })
    const call = yield* calling({ allowedNetworks: networks("127.0.0.0/8") }, dns)
    const attempt = yield* call("http://public.test/")
    assert.include(attempt.error, "plain http")
    assert.strictEqual(attempt.address, null)
  })

  it.live("is verified by the certificate of the name", function* () {
    const receiver = yield* Receiver.listen({ tls: { cert: tls("server.pem"), key: tls("server.key") } })
    const dns = yield* DnsServer.listen({
      "relay.acme.test": { A: ["127.0.0.1"] },
      "other.test": { A: ["127.0.0.1"] },
    })
    const allowedNetworks = networks("127.0.0.0/8")
    const call = yield* calling({ allowedNetworks, ca: tls("ca.pem") }, dns)
    assert.strictEqual((yield* call(`https://relay.acme.test:${receiver.port}/`)).status, 204)
    assert.strictEqual((yield* call(`https://127.0.0.1:${receiver.port}/`)).status, 204)
    assert.match((yield* call(`https://other.test:${receiver.port}/`)).error ?? "", /altnames|does not match/u)
    const wary = yield* calling({ allowedNetworks }, dns)
    assert.match((yield* wary(`https://relay.acme.test:${receiver.port}/`)).error ?? "", /certificate/u)
    assert.lengthOf(receiver.calls, 2)
  })
})

describe("a call of a webhook", () => {
  it.live("has no negative duration if the wall clock is set back", function* () {
    const receiver = yield* Receiver.listen()
    const call = yield* calling({ allowedNetworks: networks("127.0.0.0/8") })
    const { duration_ms, status } = yield* WallClock.withWallClockRunningBack(call(receiver.url))
    assert.strictEqual(status, 204)
    assert.isAtLeast(duration_ms, 0)
  })

  it.live("is not repeated after a timeout on a kept connection", function* () {
    const receiver = yield* Receiver.listen({
      answer: (_, nth) => (nth === 2 ? "hang" : { status: 204 }),
      keepAliveMs: 60_000,
    })
    const call = yield* calling({ allowedNetworks: networks("127.0.0.0/8"), timeout: ONE_IS_SILENT })
    assert.strictEqual((yield* call(receiver.url)).status, 204)
    assert.strictEqual((yield* call(receiver.url)).error, "no answer within 3 s")
    assert.strictEqual((yield* call(receiver.url)).status, 204)
    // The third call needs a new connection, since that of the second was closed.
    assert.deepStrictEqual([receiver.calls.length, receiver.connections()], [3, 2])
  })

  it.live("counts as answered by a slow endpoint, and not by one that holds back its body", function* () {
    const receiver = yield* Receiver.listen({ answer: (_, nth) => (nth === 1 ? "stall" : { status: 500 }) })
    const call = yield* calling({ allowedNetworks: networks("127.0.0.0/8"), timeout: ONE_IS_SILENT })
    const lasting = (attempt: Attempt) =>
      WebhookCaller.isAnswered({ ...attempt, duration_ms: WebhookCaller.SILENCE_MS })
    const stalled = yield* call(receiver.url)
    assert.deepStrictEqual([stalled.status, stalled.error], [200, "no end of the answer within 3 s"])
    assert.isFalse(lasting(stalled))
    assert.isTrue(lasting(yield* call(receiver.url)))
  })
})
