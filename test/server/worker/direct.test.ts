import * as Domain from "@waybill/domain/domain/Domain"
import * as Dns from "@waybill/mail/dns/Dns"
import * as ReturnPath from "@waybill/mail/tokens/ReturnPath"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Duration, Effect, Exit, Layer, Option, Scope } from "effect"
import * as EmailLogQuery from "@waybill/store/search/EmailLogQuery"
import { dkimVerify } from "mailauth/lib/dkim/verify.js"
import { hash, X509Certificate } from "node:crypto"
import * as dns from "node:dns/promises"
import * as DomainCommands from "../../../apps/server/src/operate/DomainCommands.ts"
import { Instance } from "../../../apps/server/src/settings/Instance.ts"
import * as Transports from "../../../apps/server/src/worker/delivery/Transports.ts"
import * as Worker from "../../../apps/server/src/boot/service/Worker.ts"
import { directTransport, pair } from "../../mail/smtp/mxPair.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { testInstance } from "../../support/world/testInstance.ts"
import * as World from "../../support/world/World.ts"
import * as SmtpServer from "../../support/mail/smtpServer.ts"

const to = (...addresses: ReadonlyArray<string>) => ({ to: addresses.map((address) => ({ address })) })

/** A worker with direct delivery to the servers of the test's DNS. */
const direct = Effect.fnUntraced(function* (
  world: Effect.Success<ReturnType<typeof pair>>,
  over: Partial<Worker.Options<never, never, never>["delivery"]> = {},
) {
  const { url } = yield* Database.Fresh
  yield* Layer.build(
    Worker.layer({
      url,
      delivery: { returnPath: World.RETURN_PATH, nextAttempt: World.retrySoon, ...over },
    }).pipe(
      Layer.provide([Transports.Transports.layer("direct", { direct: directTransport(world) }), World.delivering]),
    ),
  )
})

const recipients = (ref: World.MessageRef) =>
  Effect.map(World.settled(ref), ({ state }) => (state._tag === "Message" ? state.recipients : []))

layer(World.layer, { excludeTestServices: true })("a worker with direct delivery", (it) => {
  it.effect(
    "finds the mail servers of each domain, uses the second if the first refuses, and signs verifiably",
    function* () {
      const world = yield* pair(
        { script: ({ phase }) => (phase === "greeting" ? "554 5.3.2 not here" : undefined) },
        { starttls: SmtpServer.selfSigned },
      )
      yield* direct(world)
      // The recipient's domain has MX records; the sender's only publishes its key.
      const from = yield* World.verifiedDomain("sender.test")
      world.dns.set("wb1._domainkey.sender.test", { TXT: [`v=DKIM1; k=rsa; p=${from.public_key}`] })
      const ref = yield* World.send(from, to("ana@acme.test", "ben@acme.test", "cy@gone.test"))
      const [ana, ben, cy] = yield* recipients(ref)
      for (const recipient of [ana, ben]) {
        assert.strictEqual(recipient?.status, "delivered")
        assert.deepInclude(recipient?.smtp, { code: 250, mx: "mx2.acme.test", tls: "TLSv1.3" })
      }
      assert.deepStrictEqual([cy?.status, cy?.smtp?.category], ["bounced", "bad_domain"])
      assert.deepStrictEqual(
        world.mx2.mails.map((mail) => mail.to),
        [["ana@acme.test", "ben@acme.test"]],
      )
      assert.strictEqual(world.mx1?.mails.length, 0)
      // A receipt shows to whom the message was handed over, and which message.
      const events = yield* EmailLogQuery.events(ref.account_id, ref.stream_id)
      const handedOver = events.filter(({ type }) => type === "EmailDelivered")
      assert.strictEqual(handedOver.length, 2)
      for (const { data } of handedOver) {
        assert.match(String(data["address"]), /^127\./u)
        assert.strictEqual(
          data["certificate_sha256"],
          hash("sha256", new X509Certificate(String(SmtpServer.selfSigned.cert)).raw, "base64url"),
        )
        assert.strictEqual(
          data["message_sha256"],
          hash("sha256", world.mx2.mails[0]?.bytes ?? Buffer.alloc(0), "base64url"),
        )
      }

      // The return path covers only recipients of the server's domain.
      const [local = ""] = (world.mx2.mails[0]?.from ?? "").split("@")
      assert.deepStrictEqual(
        ReturnPath.verify(World.RETURN_PATH.secretKey, local),
        Option.some({
          accountStart: ref.account_id.slice(0, 19),
          emailId: ref.stream_id,
          recipientIndex: 0,
          scope: "domain" as const,
        }),
      )

      const resolver = new dns.Resolver()
      resolver.setServers([world.dns.server])
      const verdict = yield* Effect.promise(() =>
        dkimVerify(world.mx2.mails[0]?.bytes ?? Buffer.alloc(0), {
          resolver: (name) => resolver.resolveTxt(name),
          strict: true,
        }),
      )
      assert.deepStrictEqual(
        verdict.results.map(({ signingDomain, status }) => [signingDomain, status.result]),
        [["sender.test", "pass"]],
      )
    },
  )

  it.effect("signs with both keys of a domain while DNS has both, and otherwise with RSA only", function* () {
    const world = yield* pair({})
    yield* direct(world)
    const from = yield* World.verifiedDomain("two-keys.test")
    world.dns.set("wb1._domainkey.two-keys.test", { TXT: [`v=DKIM1; k=rsa; p=${from.public_key}`] })
    const looksAtDns = DomainCommands.check(from.account_id, from.domain_id).pipe(
      Effect.provide(Dns.Dns.layer({ servers: [world.dns.server], query_timeout_ms: 20_000, query_tries: 1 })),
      Effect.provideService(Instance, testInstance({ transport: "direct" })),
    )
    const resolver = new dns.Resolver()
    resolver.setServers([world.dns.server])
    /** Verifies the signatures of the next mail, from the top. */
    const next = Effect.gen(function* () {
      yield* World.settled(yield* World.send(from, to("ana@acme.test")))
      const bytes = world.mx1?.mails.at(-1)?.bytes ?? Buffer.alloc(0)
      const { results } = yield* Effect.promise(() =>
        dkimVerify(bytes, { resolver: (name) => resolver.resolveTxt(name), strict: true }),
      )
      return results.map(({ algo, selector, status }) => `${selector} ${algo} ${status.result}`)
    })
    const one = yield* World.addEd25519Key(from)
    assert.deepStrictEqual(yield* next, ["wb1 rsa-sha256 pass"])
    world.dns.set(one.name, one.zone)
    yield* looksAtDns
    assert.deepStrictEqual(yield* next, ["wb1 rsa-sha256 pass", "wbe1 ed25519-sha256 pass"])

    const two = yield* World.addEd25519Key(from, "wbe2")
    yield* looksAtDns
    assert.deepStrictEqual(yield* next, ["wb1 rsa-sha256 pass", "wbe1 ed25519-sha256 pass"])
    world.dns.set(two.name, two.zone)
    yield* looksAtDns
    assert.deepStrictEqual(yield* next, ["wb1 rsa-sha256 pass", "wbe2 ed25519-sha256 pass"])

    world.dns.set(two.name, "SERVFAIL")
    yield* looksAtDns
    assert.strictEqual((yield* next).length, 2)
    world.dns.remove(two.name)
    yield* looksAtDns
    assert.deepStrictEqual(yield* next, ["wb1 rsa-sha256 pass"])
    const { state } = yield* EventStore.use((store) =>
      store.load(Domain, { account_id: from.account_id, stream_id: from.domain_id }),
    )
    assert.deepInclude(state, { status: "verified" })
  })

  it.effect("defers while a domain's DNS fails, and delivers after it recovers", function* () {
    const world = yield* pair({})
    let asked = 0
    world.dns.set("ill.test", (_, type) => {
      if (type === "MX" && asked++ < 2) return "SERVFAIL"
      return { MX: [[10, "mx1.acme.test"]] }
    })
    yield* direct(world)
    const ref = yield* World.send(yield* World.verifiedDomain("patient.test"), to("ana@ill.test"))
    const [ana] = yield* recipients(ref)
    assert.strictEqual(ana?.status, "delivered")
    const timeline = yield* World.timeline(ref)
    assert.deepStrictEqual([timeline[1], timeline.at(-1)], ["EmailDeferred", "EmailDelivered"])
    assert.strictEqual(world.mx1?.counts.get(`${ref.stream_id}@patient.test`), 1)
  })

  it.effect("keeps the replies of other servers when one times out, and sends to them once", function* () {
    const refused = new Set<string>()
    const silent = new Set<string>()
    const once = (seen: Set<string>, line: string) => seen.size < seen.add(line).size
    const world = yield* pair({
      script: ({ line, phase }) => {
        if (phase !== "rcpt") return undefined
        // Ben is sent a transaction of his own, which hangs.
        if (/ben/u.test(line) && once(refused, line)) return "452 4.5.3 too many recipients"
        return /ben|cy/u.test(line) && once(silent, line) ? "hang" : undefined
      },
    })
    world.dns.set("tar.test", { MX: [[10, "mx1.acme.test"]] })
    yield* direct(world, { attemptLimit: Duration.seconds(3) })
    const from = yield* World.verifiedDomain("hurried.test")
    const ref = yield* World.send(from, to("ana@acme.test", "ben@acme.test", "cy@tar.test"))
    const found = yield* recipients(ref)
    assert.deepStrictEqual(
      found.map(({ attempts, status }) => [status, attempts]),
      [
        ["delivered", 1],
        ["delivered", 2],
        ["delivered", 2],
      ],
    )
    const taken = world.mx1?.mails.flatMap((mail) => mail.to) ?? []
    assert.deepStrictEqual(taken.toSorted(), ["ana@acme.test", "ben@acme.test", "cy@tar.test"])
    assert.deepStrictEqual((yield* World.timeline(ref)).slice(0, 4), [
      "EmailQueued",
      "EmailDelivered",
      "EmailDeferred",
      "EmailDeferred",
    ])
  })

  it.effect("keeps the replies of other servers when it stops before one has answered", function* () {
    const silent = new Set<string>()
    const world = yield* pair({
      script: ({ line, phase }) =>
        phase === "rcpt" && /cy/u.test(line) && silent.size < silent.add(line).size ? "hang" : undefined,
    })
    world.dns.set("tar.test", { MX: [[10, "mx1.acme.test"]] })
    const scope = yield* Scope.fork(yield* Effect.scope)
    yield* Scope.provide(direct(world, { stopWithin: "2 seconds" }), scope)
    const from = yield* World.verifiedDomain("stopped.test")
    const ref = yield* World.send(from, to("ana@acme.test", "cy@tar.test"))
    yield* World.until(
      Effect.sync(() => [silent.size, world.mx1?.mails.length]),
      ([hanging, taken]) => hanging === 1 && taken === 1,
    )
    yield* Scope.close(scope, Exit.void)
    assert.deepStrictEqual(yield* World.timeline(ref), ["EmailQueued", "EmailDelivered", "EmailAttemptLost"])
    yield* direct(world)
    const found = yield* recipients(ref)
    assert.deepStrictEqual(
      found.map(({ attempts, status }) => [status, attempts]),
      [
        ["delivered", 1],
        ["delivered", 2],
      ],
    )
    assert.strictEqual(world.mx1?.mails.length, 2)
  })
})
