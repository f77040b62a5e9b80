import type { EmailId } from "@waybill/domain/values/Id"
import * as TrackingToken from "@waybill/mail/tokens/TrackingToken"
import { Effect, Layer } from "effect"
import { request } from "node:http"
import PostalMime from "postal-mime"
import * as TrackedLinks from "../../../apps/server/src/links/TrackedLinks.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"
import * as SmtpServer from "../../support/mail/smtpServer.ts"
import { HttpWorld, reasonOf, type Setup, signUp } from "../../support/world/HttpWorld.ts"

const OURS = "track.waybill.example"
const BASE = `https://${OURS}`
const LINKS = "links.acme.dev"
const TARGET = "https://shop.test/o"
const HTML = `<html><body><a href="${TARGET}">Order</a></body></html>`
const options = { excludeTestServices: true, timeout: "90 seconds" } as const
const zones: { [name: string]: { TXT?: Array<string>; CNAME?: string } } = {}

interface Asked {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Requests a path under a tracking domain, as a browser does through a proxy. */
const under = (url: string, host: string, path: string, { body, headers, method = "GET" }: Asked = {}) =>
  Effect.promise(
    () =>
      new Promise<number>((done, fail) => {
        const { hostname, port } = new URL(url)
        const options = request({ hostname, port, path, method, headers: { ...headers, host } }, (answer) => {
          answer.resume().on("end", () => done(answer.statusCode ?? 0))
        })
        options.on("error", fail).end(body)
      }),
  )

const setUp = Effect.gen(function* () {
  const customer = yield* signUp()
  const { call } = customer
  const put = (tracking_domain: unknown) => call("PATCH", "/v1/domains/acme.dev", { tracking_domain })
  const domain = (yield* call("POST", "/v1/domains", { name: "acme.dev" })).json
  const verify = Effect.gen(function* () {
    zones["wb1._domainkey.acme.dev"] = { TXT: [domain.records[0].value] }
    return (yield* call("POST", "/v1/domains/acme.dev/verify")).json
  })
  return { ...customer, put, domain, verify }
})

layer(HttpWorld.layer({ tracks: true, trackingHost: OURS, transport: "relay", zones } as Setup), options)(
  "a name of a customer that links lead over",
  (it) => {
    // threat: tracked-links
    it.effect("is a DNS record of its own, and used while it resolves here", function* () {
      const { account, call, domain, key, put, verify, world } = yield* setUp
      const certificateStatus = (name: string) =>
        Effect.map(world.request("GET", `/t/ask?domain=${name}`), ({ headers, status, text }) => {
          assert.deepStrictEqual([text, headers.get("set-cookie")], ["", null])
          return status
        })
      assert.isNull(domain.tracking_domain)
      assert.lengthOf(domain.records, 3)
      const set = yield* put("Links.Acme.dev")
      assert.deepStrictEqual([set.status, set.json.tracking_domain], [200, LINKS])
      const record = set.json.records.at(-1)
      assert.deepStrictEqual(record, {
        purpose: "tracking",
        type: "CNAME",
        host: "links",
        name: LINKS,
        zone_host: "links",
        value: OURS,
        priority: null,
        ttl: 3600,
        required: false,
        status: "not_checked",
        found: [],
        error: null,
      })
      const statuses = ({ records, status }: { records: Array<{ status: string }>; status: string }) => [
        status,
        records.at(-1)?.status,
      ]
      // The name resolves here but is not any account's.
      zones[LINKS] = { CNAME: OURS }
      assert.deepStrictEqual(statuses((yield* call("POST", "/v1/domains/acme.dev/verify")).json), [
        "pending",
        "verified",
      ])
      assert.deepStrictEqual(statuses(yield* verify), ["verified", "verified"])

      const { url } = yield* Database.Fresh
      const server = yield* SmtpServer.listen()
      const [secretKey = new Uint8Array()] = yield* TrackedLinks.trackingKeys
      const stopped = { has: () => false }
      const worker = (customers: boolean) =>
        Layer.build(
          World.worker(
            url,
            { relay: World.relay(server) },
            { track: TrackedLinks.trackingOf({ base: `${BASE}/x/`, customers, secretKey, stopped }) },
          ),
        )
      const sent = Effect.gen(function* () {
        const message = { from: "hi@acme.dev", to: "ana@example.org", subject: "Hello", html: HTML }
        const { id } = (yield* call("POST", "/v1/email/send", {
          ...message,
          tracking: { opens: true, clicks: true },
        })).json
        yield* World.settled({ account_id: account, stream_id: id })
        const mail = yield* Effect.promise(() => PostalMime.parse(server.mails.at(-1)?.bytes ?? Buffer.alloc(0)))
        return /href="(.*)(\/t\/c\/.*?)"[^]* src="(.*)(\/t\/o\/.*?)"/u.exec(mail.html ?? "")?.slice(1) ?? []
      })
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* worker(false)
          const [byClick] = yield* sent
          assert.strictEqual(byClick, `${BASE}/x`)
        }),
      )
      yield* worker(true)
      const [byClick, click = "", byOpen, open = ""] = yield* sent
      assert.deepStrictEqual([byClick, byOpen], [`https://${LINKS}`, `https://${LINKS}`])

      yield* World.until(certificateStatus(LINKS), (status) => status === 200)
      for (const name of ["LINKS.acme.dev.", "links.acme.dev:443"])
        assert.strictEqual(yield* certificateStatus(name), 200, name)
      for (const name of ["", "acme.dev", "x.links.acme.dev", OURS, "%00"])
        assert.strictEqual(yield* certificateStatus(name), 404, name)
      assert.strictEqual((yield* world.request("GET", "/t/ask")).status, 404)
      // A target is read by its path, whatever host it names.
      assert.strictEqual(yield* under(world.url, OURS, "http://[/t/ask?domain=links.acme.dev"), 200)

      // The token identifies the email, whichever host it is requested under; a tracking domain serves nothing else.
      for (const host of [LINKS, "Links.Acme.dev.:8443", OURS, "127.0.0.1"]) {
        assert.strictEqual(yield* under(world.url, host, click), 302, host)
        assert.strictEqual(yield* under(world.url, host, open), 200, host)
      }
      const message = JSON.stringify({ from: "hi@acme.dev", to: "ana@example.org", subject: "Hello" })
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
      const send = {
        method: "POST",
        body: message,
        headers: { ...headers, "content-length": String(message.length) },
      }
      const elsewhere = [
        ["/v1/domains", { headers }],
        ["/v1/email/send", send],
        ["/healthz", {}],
        ["/docs", {}],
        ["/t/ask?domain=links.acme.dev", {}],
        ["/%76%31/domains", { headers }],
        ["/t/c/../../v1/domains", { headers }],
      ] as const
      for (const [path, options] of elsewhere) {
        assert.strictEqual(yield* under(world.url, LINKS, path, options), 404, path)
        const forwarded = {
          ...options,
          headers: { ...("headers" in options ? options.headers : {}), "x-forwarded-host": LINKS },
        }
        assert.strictEqual(yield* under(world.url, "127.0.0.1", path, forwarded), 404, path)
      }
      // Not cacheable, because a cache that ignores the header would serve it to clients of the service's own name.
      const forged = yield* world.request("GET", "/docs", { headers: { "x-forwarded-host": LINKS } })
      assert.deepStrictEqual([forged.status, forged.headers.get("cache-control")], [404, "no-store"])
      assert.deepStrictEqual(
        [
          yield* under(world.url, OURS, "/v1/domains", { headers }),
          yield* under(world.url, OURS, "/v1/email/send", send),
        ],
        [200, 200],
      )

      // Once removed from DNS, the name is used in no new mail; links in sent mail keep working.
      delete zones[LINKS]
      assert.deepStrictEqual(statuses((yield* call("POST", "/v1/domains/acme.dev/verify")).json), [
        "verified",
        "missing",
      ])
      const [after] = yield* sent
      assert.strictEqual(after, `${BASE}/x`)
      yield* World.until(certificateStatus(LINKS), (status) => status === 404)
      assert.strictEqual(yield* under(world.url, LINKS, click), 302)
      const removed = yield* put(null)
      assert.deepStrictEqual([removed.json.tracking_domain, removed.json.records.length], [null, 3])
      const events = "domain.tracking_domain_set,domain.tracking_domain_removed,domain.degraded"
      assert.deepStrictEqual(
        (yield* call("GET", `/v1/events?types=${events}`)).json.data.map(({ type }: { type: string }) => type),
        ["domain.tracking_domain_set", "domain.tracking_domain_removed"],
      )
      const [row] = yield* Effect.orDie(
        world.sql`SELECT record ? 'tracking_domain' AS has FROM domains WHERE id = ${domain.id}`,
      )
      assert.deepStrictEqual(row, { has: false })
    })

    it.effect("is a free name below the domain, set with the scope", function* () {
      const { call, keyWith, put, world } = yield* setUp
      for (const invalid of ["links", "a b.acme.dev", 7, {}, ""]) assert.strictEqual((yield* put(invalid)).status, 400)
      for (const [name, reason] of [
        ["links.other.dev", "not_below_domain"],
        ["acme.dev", "not_below_domain"],
        ["bounce.acme.dev", "name_taken"],
      ]) {
        const { json, status } = yield* put(name)
        assert.deepStrictEqual(
          [status, json.error.reason, json.error.details[0].path],
          [422, reason, "tracking_domain"],
        )
      }
      const reader = yield* keyWith({ scopes: ["domains:read"] })
      const body = { tracking_domain: LINKS }
      assert.strictEqual((yield* world.request("PATCH", "/v1/domains/acme.dev", { key: reader, body })).status, 403)
      // Fields that are left out keep their value.
      for (const change of [body, { click_tracking: true }, body, { click_tracking: true, tracking_domain: LINKS }])
        assert.strictEqual((yield* call("PATCH", "/v1/domains/acme.dev", change)).json.tracking_domain, LINKS)
      const { json } = yield* call("GET", "/v1/events?types=domain.tracking_domain_set,domain.tracking_changed")
      assert.lengthOf(json.data, 2)
    })

    // threat: tracked-links
    it.effect("gets no certificate before the domain is verified", function* () {
      const { call, put, verify, world } = yield* setUp
      const theirs = yield* setUp
      zones[LINKS] = { CNAME: OURS }
      yield* put(LINKS)
      yield* call("POST", "/v1/domains/acme.dev/verify")
      yield* theirs.call("POST", "/v1/domains", { name: "second.dev" })
      const second = (yield* theirs.call("PATCH", "/v1/domains/second.dev", { tracking_domain: "l.second.dev" })).json
      zones["l.second.dev"] = { CNAME: OURS }
      zones["wb1._domainkey.second.dev"] = { TXT: [second.records[0].value] }
      yield* theirs.call("POST", "/v1/domains/second.dev/verify")
      const certificateStatus = (name: string) =>
        Effect.map(world.request("GET", `/t/ask?domain=${name}`), ({ status }) => status)
      yield* World.until(certificateStatus("l.second.dev"), (status) => status === 200)
      assert.strictEqual(yield* certificateStatus(LINKS), 404)
      yield* verify
      yield* World.until(certificateStatus(LINKS), (status) => status === 200)
      yield* theirs.call("DELETE", "/v1/domains/second.dev")
      yield* World.until(certificateStatus("l.second.dev"), (status) => status === 404)
    })
  },
)

layer(HttpWorld.layer({ tracks: true, zones } as Setup), options)("without tracking domains on the proxy", (it) => {
  it.effect("none is accepted or shown", function* () {
    const { account, put, world } = yield* setUp
    const refused = yield* put(LINKS)
    assert.deepStrictEqual(reasonOf(refused), [422, "tracking_domains_unavailable"])
    assert.include(refused.json.error.message, "TRACKING_DOMAINS=on")
    assert.strictEqual((yield* put(null)).status, 200)
    assert.strictEqual((yield* world.request("GET", `/t/ask?domain=${LINKS}`)).status, 404)
    const [key = new Uint8Array()] = yield* TrackedLinks.trackingKeys
    const mail = { account_id: account, email_id: `msg_${"0".repeat(26)}` as EmailId }
    const open = TrackingToken.OPEN_PATH + TrackingToken.ofOpen(key, mail)
    assert.strictEqual(yield* under(world.url, LINKS, open), 200)
    assert.strictEqual(yield* under(world.url, LINKS, "/healthz"), 200)
  })
})
