import { Deferred, Duration, Effect, Fiber, Layer, Result } from "effect"
import { TestClock } from "effect/testing"
import type { RequestListener } from "node:http"
import { once } from "node:events"
import * as https from "node:https"
import type { AddressInfo } from "node:net"
import * as tls from "node:tls"
import * as AnswerBudget from "@waybill/mail/dns/AnswerBudget"
import * as Dns from "@waybill/mail/dns/Dns"
import * as MtaSts from "@waybill/mail/dns/MtaSts"
import * as MtaStsFetch from "@waybill/mail/dns/MtaStsFetch"
import * as Network from "@waybill/mail/dns/Network"
import { assert, describe, it } from "../../support/effectTest.ts"
import { processorMs } from "../../support/processorMs.ts"
import { dnsZones } from "../../support/mail/dnsZones.ts"
import * as SmtpServer from "../../support/mail/smtpServer.ts"

const POLICY = "version: STSv1\r\nmode: enforce\r\nmx: mx1.acme.test\r\nmx: *.acme.example\r\nmax_age: 604800\r\n"

describe("an MTA-STS policy", () => {
  it("is parsed field by field", () => {
    assert.deepStrictEqual(MtaSts.parse(POLICY), {
      mode: "enforce",
      mx: ["mx1.acme.test", "*.acme.example"],
      max_age_ms: 604_800_000,
    })
    assert.deepStrictEqual(MtaSts.parse("version:STSv1\nmode:none\nmax_age:1\nfuture: thing\n")?.mode, "none")
  })
  it("of mode none lists no servers", () => {
    assert.deepStrictEqual(MtaSts.parse("version: STSv1\nmode: none\nmx: \0\nmax_age: 1\n")?.mx, [])
  })
  it("that consists of spaces is parsed in linear time", () => {
    const began = processorMs()
    const text = POLICY + `x: a${" ".repeat(MtaSts.POLICY_BYTES - POLICY.length - 10)}b\r\n`
    assert.strictEqual(MtaSts.parse(text)?.mode, "enforce")
    assert.isBelow(processorMs() - began, 1_000)
  })
  it("is valid for at most a year", () => {
    assert.strictEqual(MtaSts.parse(POLICY.replace("604800", "9999999999"))?.max_age_ms, MtaSts.MAX_AGE_SECONDS * 1000)
  })
  // threat: endless-answers
  const broken: Record<string, string> = {
    "no version": POLICY.replace("version: STSv1\r\n", ""),
    "another version": POLICY.replace("STSv1", "STSv2"),
    "no mode": POLICY.replace("mode: enforce\r\n", ""),
    "an unknown mode": POLICY.replace("enforce", "maybe"),
    "no age": POLICY.replace("max_age: 604800\r\n", ""),
    "an age that is no number": POLICY.replace("604800", "-1"),
    "no server": POLICY.replace(/mx: .*\r\n/gu, ""),
    "a server that is no name": POLICY.replace("mx1.acme.test", "mx1.acme.test, mx2"),
    "a name longer than a name can be": POLICY.replace("mx1.acme.test", `${"a.".repeat(130)}test`),
    "more names than are kept":
      POLICY + Array.from({ length: 95 }, (_, n) => `mx: ${"a.".repeat(60)}${n}.test\r\n`).join(""),
    HTML: "<!doctype html>\n<title>404</title>",
    "too much": POLICY + "x: y\r\n".repeat(20_000),
  }
  for (const [name, text] of Object.entries(broken))
    it(`is invalid with ${name}`, () => assert.isUndefined(MtaSts.parse(text)))

  it("matches servers by name, with a star for one label", () => {
    const policy = MtaSts.parse(POLICY)
    const listed = (host: string) => policy !== undefined && MtaSts.matches(policy, host)
    assert.deepStrictEqual(
      ["mx1.acme.test", "a.acme.example", "mx2.acme.test", "a.b.acme.example", "acme.example", "xacme.example"].map(
        listed,
      ),
      [true, true, false, false, false, false],
    )
  })
})

describe("MtaSts.enforced", () => {
  /** DNS and a policy host that can change, and a storage that all processes share. */
  const world = Effect.gen(function* () {
    const now: { txt: Dns.Answer<string>; policy: string | undefined; fetched: number; looked: number; away: boolean } =
      {
        txt: Dns.found(["v=STSv1; id=1;"]),
        policy: POLICY,
        fetched: 0,
        looked: 0,
        away: false,
      }
    const kept = new Map<string, MtaSts.StoredPolicy>()
    const reached = <A>(look: () => A) =>
      Effect.suspend(() => {
        now.looked++
        return now.away ? Effect.fail(new Error("the database is away")) : Effect.succeed(look())
      })
    const keep: MtaSts.PolicyStorage = {
      find: (domain) => reached(() => kept.get(domain)),
      put: (domain, held) => reached(() => void kept.set(domain, held)),
    }
    const fetch: MtaSts.Fetch = () =>
      Effect.suspend(() => {
        now.fetched++
        return now.policy === undefined
          ? Effect.fail(new MtaSts.FetchFailed({ reason: "gone" }))
          : Effect.succeed(now.policy)
      })
    const dns = Layer.effect(
      Dns.Dns,
      Effect.map(Effect.provide(Effect.flatMap(Dns.Dns, Effect.succeed), dnsZones({})), (none) =>
        Dns.Dns.of({ ...none, txt: () => Effect.sync(() => now.txt) }),
      ),
    )
    const process = Effect.map(
      Effect.provide(
        Effect.flatMap(MtaSts.MtaSts, Effect.succeed),
        Layer.fresh(MtaSts.MtaSts.layer(fetch, keep).pipe(Layer.provide(dns))),
      ),
      (mtaSts) => Effect.map(mtaSts.enforced("acme.test"), (policy) => policy?.mode),
    )
    return { now, kept, process, lookUp: yield* process }
  })

  it.effect("is fetched once for all mail of an interval", function* () {
    const { lookUp, now } = yield* world
    assert.deepStrictEqual(
      yield* Effect.all(
        Array.from({ length: 20 }, () => lookUp),
        { concurrency: "unbounded" },
      ),
      Array.from({ length: 20 }, () => "enforce" as const),
    )
    yield* TestClock.adjust(MtaSts.CHECK_MS)
    yield* lookUp
    assert.strictEqual(now.fetched, 1)
  })

  it.effect("holds until it expires when its record and host disappear", function* () {
    const { lookUp, now } = yield* world
    yield* lookUp
    now.policy = undefined
    for (const txt of [Dns.notFound("NXDOMAIN"), Dns.unavailable("SERVFAIL"), Dns.found(["v=STSv1; id=2"])]) {
      now.txt = txt
      yield* TestClock.adjust(MtaSts.CHECK_MS)
      assert.strictEqual(yield* lookUp, "enforce")
    }
    yield* TestClock.adjust("7 days")
    assert.isUndefined(yield* lookUp)
  })

  it.effect("is fetched again when the id of the record changes", function* () {
    const { lookUp, now } = yield* world
    yield* lookUp
    now.policy = POLICY.replace("enforce", "testing")
    yield* TestClock.adjust(MtaSts.CHECK_MS)
    assert.strictEqual(yield* lookUp, "enforce")
    now.txt = Dns.found(["v=STSv1; id=2"])
    yield* TestClock.adjust(MtaSts.CHECK_MS)
    assert.isUndefined(yield* lookUp)
  })

  // threat: unsigned-mail
  it.effect("is loaded from storage by a process that starts while record and host are unreachable", function* () {
    const { lookUp, now, process } = yield* world
    yield* lookUp
    now.txt = Dns.unavailable("TIMEOUT")
    now.policy = undefined
    yield* TestClock.adjust("6 days")
    assert.strictEqual(yield* yield* process, "enforce")
    yield* TestClock.adjust("1 day")
    assert.isUndefined(yield* yield* process)
  })

  it.effect("is taken from storage when another process has renewed it", function* () {
    const { lookUp, kept, now } = yield* world
    yield* Effect.repeat(lookUp, { times: 9 })
    // The process looks into the storage and keeps its own newer policy.
    assert.strictEqual(now.looked, 2)
    const [held] = kept.values()
    if (held === undefined) return assert.fail("nothing is kept")
    kept.set("acme.test", { ...held, expires_at: held.expires_at + 604_800_000 })
    now.txt = Dns.notFound("NXDOMAIN")
    yield* TestClock.adjust("8 days")
    assert.strictEqual(yield* lookUp, "enforce")
    assert.deepStrictEqual([now.looked, now.fetched], [3, 1])
  })

  it.effect("is fetched and cached when the storage fails", function* () {
    const { lookUp, now } = yield* world
    now.away = true
    assert.strictEqual(yield* lookUp, "enforce")
    now.txt = Dns.notFound("NXDOMAIN")
    yield* TestClock.adjust(MtaSts.CHECK_MS)
    assert.strictEqual(yield* lookUp, "enforce")
  })

  it.effect("is not enforced without exactly one record with an id", function* () {
    for (const txt of [
      [],
      ["v=STSv1;"],
      ["v=STSv1; id=1", "v=STSv1; id=2"],
      ["v=STSv1; id=not/one"],
      ["v=spf1 -all"],
    ]) {
      const { lookUp, now } = yield* world
      now.txt = Dns.found(txt)
      assert.isUndefined(yield* lookUp)
      assert.strictEqual(now.fetched, 0)
    }
  })
})

describe("MtaStsFetch over https", () => {
  const allowed = Result.getOrThrow(Network.parseAll(["127.0.0.0/8"]))
  const serve = (handler: RequestListener) =>
    Effect.acquireRelease(
      Effect.promise(
        () =>
          new Promise<{ server: https.Server; port: number }>((resolve) => {
            const server = https.createServer({ ...SmtpServer.certified }, handler)
            server.listen(0, "127.0.0.1", () => {
              const address = server.address()
              resolve({ server, port: typeof address === "object" && address !== null ? address.port : 0 })
            })
          }),
      ),
      ({ server }) =>
        Effect.promise(
          () =>
            new Promise<void>((resolve) => {
              server.close(() => resolve())
              server.closeAllConnections()
            }),
        ),
    )
  const fetch = (port: number, options: MtaStsFetch.Options = {}, domain = "acme.test") =>
    Effect.flatMap(MtaStsFetch.make({ port, allowed, ca: SmtpServer.authority, ...options }), (fetch) =>
      Effect.result(fetch(domain)),
    ).pipe(
      Effect.map(Result.match({ onSuccess: (text) => text, onFailure: (failed) => `failed: ${failed.reason}` })),
      Effect.provide(
        dnsZones({ "mta-sts.acme.test": { A: ["127.0.0.1"] }, "mta-sts.other.test": { A: ["127.0.0.1"] } }),
      ),
    )

  it.effect("returns the text at the well-known path", function* () {
    const { port } = yield* serve((request, response) => {
      response.setHeader("content-type", "text/plain; charset=utf-8")
      response.end(`${request.headers.host} ${request.url}`)
    })
    assert.strictEqual(yield* fetch(port), `mta-sts.acme.test:${port} /.well-known/mta-sts.txt`)
  })

  /** A policy host that writes raw bytes. */
  const speak = (begin: (socket: tls.TLSSocket) => void) =>
    Effect.acquireRelease(
      Effect.promise(async () => {
        const sockets: Array<tls.TLSSocket> = []
        const server = tls.createServer(SmtpServer.certified, (socket) => {
          sockets.push(socket)
          socket.on("error", () => undefined)
          socket.once("data", () => begin(socket))
        })
        server.listen(0, "127.0.0.1")
        await once(server, "listening")
        return { server, sockets, port: (server.address() as AddressInfo).port }
      }),
      ({ server, sockets }) =>
        Effect.sync(() => {
          for (const socket of sockets) socket.destroy()
          server.close()
        }),
    )
  /** Writes a text again and again until the client stops reading. */
  const endless = (piece: string) => (socket: tls.TLSSocket) => {
    const pour = () => {
      while (!socket.destroyed && socket.write(piece));
    }
    socket.on("drain", pour)
    pour()
  }
  const OK = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"

  // threat: endless-answers
  it.effect("fails on endless interim responses, headers, chunks and protocol upgrades", function* () {
    const hosts: ReadonlyArray<readonly [expected: RegExp, begin: (socket: tls.TLSSocket) => void]> = [
      [/interim responses|on the wire/u, endless("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n".repeat(100))],
      [/interim responses|on the wire/u, endless("HTTP/1.1 100 Continue\r\n\r\n".repeat(100))],
      [
        /Header overflow|on the wire/u,
        (socket) => {
          socket.write(OK)
          endless("X-A: b\r\n".repeat(1_000))(socket)
        },
      ],
      [
        /larger than/u,
        (socket) => {
          socket.write(`${OK}Transfer-Encoding: chunked\r\n\r\n`)
          endless("1\r\nx\r\n".repeat(1_000))(socket)
        },
      ],
      [
        /ended without a whole answer/u,
        (socket) => void socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"),
      ],
      [/hang up|ended without/u, (socket) => socket.destroy()],
    ]
    for (const [expected, begin] of hosts) {
      const { port } = yield* speak(begin)
      // Without its timeout, since the clock stands still.
      assert.match(yield* fetch(port), expected)
    }
  })

  it.effect("accepts a response after a few interim ones, however it is chunked", function* () {
    const interim = "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(AnswerBudget.MAX_INTERIM_ANSWERS)
    const { port } = yield* speak((socket) => {
      for (const byte of `${interim}${OK}Content-Length: ${POLICY.length}\r\n\r\n${POLICY}`) socket.write(byte)
    })
    assert.strictEqual(yield* fetch(port), POLICY)
  })

  // threat: internal-addresses
  it.effect(
    "refuses redirects, other types, endless bodies, silence, wrong certificates and private addresses",
    function* () {
      const answers: Record<string, RequestListener> = {
        "failed: status 301": (_, response) => response.writeHead(301, { location: "https://evil.test/" }).end(),
        "failed: not text/plain": (_, response) => response.writeHead(200, { "content-type": "text/html" }).end("x"),
        [`failed: the answer is larger than ${MtaSts.POLICY_BYTES / 1024} KB`]: (_, response) => {
          response.writeHead(200, { "content-type": "text/plain" }).write("x".repeat(MtaSts.POLICY_BYTES + 1))
        },
      }
      for (const [expected, handler] of Object.entries(answers)) {
        const { port } = yield* serve(handler)
        assert.strictEqual(yield* fetch(port), expected)
      }
      const asked = yield* Deferred.make<void>()
      const silent = yield* serve(() => Deferred.doneUnsafe(asked, Effect.void))
      const waiting = yield* Effect.forkChild(fetch(silent.port))
      yield* Deferred.await(asked)
      yield* TestClock.adjust(Duration.seconds(15))
      assert.strictEqual(yield* Fiber.join(waiting), "failed: no answer within 15 s")
      const { port } = yield* serve((_, response) =>
        response.writeHead(200, { "content-type": "text/plain" }).end(POLICY),
      )
      assert.match(yield* fetch(port, {}, "other.test"), /^failed: .*altnames/u)
      // A name that a URL cannot have, but a recipient can.
      assert.match(yield* fetch(port, {}, "acme.1"), /^failed: .* is not a URL$/u)
      assert.match(yield* fetch(port, { ca: "" }), /^failed: .*(?:issuer|certificate)/u)
      assert.match(yield* fetch(port, { allowed: [] }), /^failed: .*a loopback address/u)
    },
  )
})
