import * as Dns from "@waybill/mail/dns/Dns"
import * as Network from "@waybill/mail/dns/Network"
import * as PinnedRequest from "@waybill/mail/dns/PinnedRequest"
import { Duration, Effect, Fiber, Result } from "effect"
import { TestClock } from "effect/testing"
import { assert, describe, it } from "../../support/effectTest.ts"
import * as WebhookReceiver from "../../support/web/WebhookReceiver.ts"

const MAX_BYTES = 64 * 1024
const LOOPBACK = Result.getOrThrow(Network.parseAll(["127.0.0.0/8"]))

describe("a request to a pinned address", () => {
  const send = (url: string, options: Partial<PinnedRequest.Options> = {}) =>
    PinnedRequest.send(url, { allowed: LOOPBACK, timeout: Duration.seconds(5), max_bytes: MAX_BYTES, ...options }).pipe(
      Effect.provide(Dns.Dns.layer({})),
    )
  const reasonOf = (url: string, options: Partial<PinnedRequest.Options> = {}) =>
    Effect.map(Effect.flip(send(url, options)), ({ message }) => message)

  it.effect("posts a body and returns the answer, whatever its status", function* () {
    const { calls, url } = yield* WebhookReceiver.listen({
      answer: () => ({ status: 409, headers: { "content-type": "text/x.tlog.size; charset=utf-8" }, body: "42\n" }),
    })
    const { body, status, type } = yield* send(url, { body: "old 0\n" })
    assert.deepStrictEqual([status, type, body.toString()], [409, "text/x.tlog.size", "42\n"])
    assert.strictEqual(calls[0]?.body, "old 0\n")
  })

  it.effect("follows no redirect", function* () {
    const { calls, url } = yield* WebhookReceiver.listen({
      answer: () => ({ status: 302, headers: { location: "/elsewhere" } }),
    })
    assert.strictEqual((yield* send(url)).status, 302)
    assert.lengthOf(calls, 1)
  })

  // threat: endless-answers
  it.effect("ends with an answer that is too large, incomplete or missing", function* () {
    const large = yield* WebhookReceiver.listen({ answer: () => ({ status: 200, body: "x".repeat(8 * MAX_BYTES) }) })
    const dropped = yield* WebhookReceiver.listen({ answer: () => "drop" })
    assert.match(yield* reasonOf(large.url, { max_bytes: 1_024 }), /larger than 1 KB/u)
    assert.notStrictEqual(yield* reasonOf(dropped.url), "")
    for (const answer of ["hang", "stall"] as const) {
      const { calls, url } = yield* WebhookReceiver.listen({ answer: () => answer })
      const waiting = yield* Effect.forkChild(reasonOf(url))
      while (calls.length === 0) yield* Effect.promise(() => new Promise(setImmediate))
      yield* TestClock.adjust(Duration.seconds(5))
      assert.strictEqual(yield* Fiber.join(waiting), "no answer within 5 s")
    }
  })

  // threat: internal-addresses
  it.effect("reaches no private address that is not allowed, in any notation", function* () {
    const { calls, port } = yield* WebhookReceiver.listen()
    for (const host of ["127.0.0.1", "2130706433", "0x7f.1", "localhost", "[::ffff:127.0.0.1]"])
      assert.match(yield* reasonOf(`http://${host}:${port}/`, { allowed: [] }), /loopback/u, host)
    assert.deepStrictEqual(calls, [])
  })
})
