import type { EmailId } from "@waybill/domain/values/Id"
import * as Network from "@waybill/mail/dns/Network"
import * as TrackingToken from "@waybill/mail/tokens/TrackingToken"
import { Context, Effect, Exit, Layer, Result } from "effect"
import { dkimVerify } from "mailauth/lib/dkim/verify.js"
import PostalMime from "postal-mime"
import * as TrackedLinks from "../../../apps/server/src/links/TrackedLinks.ts"
import * as StoppedLinks from "../../../apps/server/src/links/StoppedLinks.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as CommandLine from "../../support/process/CommandLine.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"
import { id } from "../../support/history.ts"
import * as SmtpServer from "../../support/mail/smtpServer.ts"
import { HttpWorld, reasonOf, type Setup, signUp, statusesOf } from "../../support/world/HttpWorld.ts"

const BASE = "https://track.acme.test"
const TARGET = "https://shop.test/o?id=7&x=%C3%BC#top"
const HTML = `<html><body><p>Hi &amp; bye</p><a class=b href='https://shop.test/o?id=7&amp;x=%C3%BC#top'>Order</a>
<a href="mailto:help@acme.test">Help</a></body></html>`
const MESSAGE = { from: "Acme <hi@acme.test>", to: "ana@example.org", subject: "Hello", html: HTML }
const options = { excludeTestServices: true, timeout: "90 seconds" } as const

const WAY = { base: BASE, customers: false }
const wayOf = (secretKey: Uint8Array, base = BASE) =>
  TrackedLinks.trackingOf({ ...WAY, base, secretKey, stopped: { has: () => false } })

/** Returns the paths of the pixel and the link, as a mail client requests them. */
const pathsIn = (html: string) => {
  const [open, click] = [/src="([^"]+)"/u, /href='([^']+)'/u].map((pattern) => pattern.exec(html)?.[1] ?? "")
  return { open: open?.slice(BASE.length) ?? "", click: click?.slice(BASE.length) ?? "" }
}

const setUp = Effect.gen(function* () {
  const customer = yield* signUp()
  const domain = (yield* customer.call("POST", "/v1/domains", { name: "acme.test" })).json
  const visit = (path: string, headers: Readonly<Record<string, string>> = {}, method = "GET") =>
    customer.world.request(method, path, {
      headers: { "user-agent": "Mail/1.0", "x-forwarded-for": "203.0.113.9", ...headers },
    })
  return { ...customer, domain, visit }
})

const PROXIES = Result.getOrThrow(Network.parseAll(["127.0.0.0/8"]))

layer(HttpWorld.layer({ tracks: true, trustedProxies: PROXIES } as Setup), options)("tracked mail", (it) => {
  it.effect("contains signed links, and visits appear in log, events, webhooks and statistics", function* () {
    const { account, call, domain, visit } = yield* setUp
    assert.deepStrictEqual([domain.open_tracking, domain.click_tracking], [false, false])
    const on = yield* call("PATCH", "/v1/domains/acme.test", { open_tracking: true, click_tracking: true })
    assert.deepStrictEqual([on.status, on.json], [200, { ...domain, open_tracking: true, click_tracking: true }])
    assert.deepStrictEqual((yield* call("GET", "/v1/domains/acme.test")).json, on.json)

    const { url } = yield* Database.Fresh
    const server = yield* SmtpServer.listen()
    const [trackingKey = new Uint8Array()] = yield* TrackedLinks.trackingKeys
    yield* Layer.build(World.worker(url, { relay: World.relay(server) }, { track: wayOf(trackingKey, `${BASE}/`) }))
    const { id: webhook } = (yield* call("POST", "/v1/webhooks", {
      url: "https://hooks.example.org/",
      events: ["email.opened", "email.clicked"],
    })).json
    const { id: email } = (yield* call("POST", "/v1/email/send", MESSAGE)).json
    yield* World.settled({ account_id: account, stream_id: email })
    const bytes = server.mails[0]?.bytes ?? Buffer.alloc(0)
    const record = domain.records[0].value
    const { results } = yield* Effect.promise(() => dkimVerify(bytes, { resolver: () => Promise.resolve([[record]]) }))
    assert.strictEqual(results[0]?.status.result, "pass")
    const mail = yield* Effect.promise(() => PostalMime.parse(bytes))
    assert.include(mail.text ?? "", TARGET)
    const html = (mail.html ?? "").trimEnd()
    const { click, open } = pathsIn(html)
    assert.strictEqual(
      html.replace(/<img [^>]*>/u, "").replace(`${BASE}${click}`, "https://shop.test/o?id=7&amp;x=%C3%BC#top"),
      HTML,
    )

    const clicked = yield* visit(click, { "x-forwarded-for": "::ffff:203.0.113.9" })
    assert.deepStrictEqual(
      [clicked.status, clicked.headers.get("location"), clicked.headers.get("cache-control")],
      [302, TARGET, "no-store, private"],
    )
    assert.strictEqual(clicked.headers.get("referrer-policy"), "no-referrer")
    const opened = yield* visit(open)
    assert.deepStrictEqual(
      [opened.status, opened.headers.get("content-type"), opened.headers.get("content-length")],
      [200, "image/gif", "43"],
    )
    // Prefetches are not recorded.
    for (const path of [click, open]) {
      yield* visit(path, {}, "HEAD")
      yield* visit(path, { "sec-purpose": "prefetch;prerender" })
    }
    const seen = yield* World.until(
      call("GET", `/v1/email/logs/${email}`),
      ({ json }) => json.clicks > 0 && json.opens > 0,
    )
    assert.deepStrictEqual([seen.json.opens, seen.json.clicks, seen.json.status], [1, 1, "delivered"])
    const facts = { recipient: "ana@example.org", user_agent: "Mail/1.0", ip: "203.0.113.9" }
    const expected = { "email.clicked": { ...facts, url: TARGET }, "email.opened": facts }
    const feed = (yield* call("GET", "/v1/events?types=email.opened,email.clicked")).json.data
    const timeline = (yield* call("GET", `/v1/email/logs/${email}/events`)).json.data
    for (const list of [feed, timeline.slice(-2)])
      assert.deepStrictEqual(
        Object.fromEntries(list.map(({ data, type }: { data: object; type: string }) => [type, data])),
        expected,
      )
    const { data } = (yield* call("GET", `/v1/webhooks/${webhook}/deliveries`)).json
    assert.lengthOf(data, 2)
    for (const { event_type, id } of data as ReadonlyArray<{ event_type: keyof typeof expected; id: string }>) {
      const { request_body } = (yield* call("GET", `/v1/webhooks/${webhook}/deliveries/${id}`)).json
      assert.deepInclude(JSON.parse(request_body).data, { email_id: email, ...expected[event_type] })
    }
    assert.strictEqual(feed[0].actor.type, "system")
  })

  it.effect("is unchanged unless tracking is turned on", function* () {
    const { account, call } = yield* setUp
    const { url } = yield* Database.Fresh
    const server = yield* SmtpServer.listen()
    const [key = new Uint8Array()] = yield* TrackedLinks.trackingKeys
    yield* Layer.build(World.worker(url, { relay: World.relay(server) }, { track: wayOf(key) }))
    const sent = []
    for (const tracking of [undefined, { opens: false, clicks: false }, { opens: true }, { clicks: true }]) {
      const { id: email } = (yield* call("POST", "/v1/email/send", { ...MESSAGE, tracking })).json
      yield* World.settled({ account_id: account, stream_id: email })
      const mail = yield* Effect.promise(() => PostalMime.parse(server.mails.at(-1)?.bytes ?? Buffer.alloc(0)))
      sent.push((mail.html ?? "").trimEnd())
      const { json } = yield* call("GET", `/v1/email/logs/${email}`)
      const { json: then } = yield* call("GET", `/v1/email/logs/${email}?as_of=${json.created_at}`)
      const listed = (yield* call("GET", "/v1/email/logs?limit=1")).json.data[0]
      for (const record of [json, then, listed])
        assert.deepStrictEqual(record.tracking, { opens: false, clicks: false, ...tracking })
    }
    const [plain = "", off, opens = "", clicks = ""] = sent
    assert.deepStrictEqual([plain, off], [HTML, HTML])
    assert.deepStrictEqual(
      [opens, clicks].map((html) => [
        html.includes(BASE + TrackingToken.OPEN_PATH),
        html.includes(BASE + TrackingToken.CLICK_PATH),
      ]),
      [
        [true, false],
        [false, true],
      ],
    )
  })

  // threat: forged-visits
  it.effect("ignores forged tokens and unknown emails", function* () {
    const { account, call, visit } = yield* setUp
    const later = new Date(Date.now() + 3_600_000).toISOString()
    const { id: email_id } = (yield* call("POST", "/v1/email/send", { ...MESSAGE, scheduled_at: later })).json
    const [key = new Uint8Array()] = yield* TrackedLinks.trackingKeys
    const mail = { account_id: account, email_id: email_id as EmailId }
    const good = TrackingToken.ofClick(key, { ...mail, url: TARGET })
    const changed = (at: number) => `${good.slice(0, at)}${good[at] === "0" ? "1" : "0"}${good.slice(at + 1)}`
    const foreign = TrackingToken.ofClick(new Uint8Array(32), { ...mail, url: TARGET })
    for (const token of [
      ...[0, 26, 52, 74, good.length - 1].map(changed),
      foreign,
      good.slice(0, -1),
      `${good}/x`,
      "x",
      "",
      "%00",
      `${good}%0d%0aSet-Cookie:a=b`,
      "0".repeat(15_000),
    ]) {
      const { headers, status } = yield* visit(TrackingToken.CLICK_PATH + token)
      assert.deepStrictEqual([status, headers.get("location"), headers.get("set-cookie")], [404, null, null], token)
      // The pixel is always the same, so that it does not reveal which tokens are valid.
      const picture = yield* visit(TrackingToken.OPEN_PATH + token.slice(0, 100).replaceAll("/", ""))
      if (token !== "") assert.strictEqual(picture.status, 200, token)
    }
    const ofPicture = yield* visit(TrackingToken.CLICK_PATH + TrackingToken.ofOpen(key, mail))
    assert.strictEqual(ofPicture.status, 404)
    // Valid tokens of unknown emails redirect, because a reader may have kept the mail longer than its history.
    const nobodys = [
      { ...mail, email_id: id("EmailId") },
      { ...mail, account_id: id("AccountId") },
    ]
    for (const each of nobodys)
      assert.strictEqual(
        (yield* visit(TrackingToken.CLICK_PATH + TrackingToken.ofClick(key, { ...each, url: TARGET }))).status,
        302,
      )
    // Recorded after all others.
    const seen = yield* visit(TrackingToken.CLICK_PATH + good)
    assert.strictEqual(seen.headers.get("location"), TARGET)
    const log = yield* World.until(call("GET", `/v1/email/logs/${email_id}`), ({ json }) => json.clicks > 0)
    assert.deepStrictEqual([log.json.opens, log.json.clicks], [0, 1])
    assert.lengthOf((yield* call("GET", "/v1/events?types=email.opened,email.clicked")).json.data, 1)
  })

  // threat: tracked-links
  it.effect("has dead links on every node once an operator stopped the account's links", function* () {
    const { account, call, visit, world } = yield* setUp
    const other = yield* setUp
    const { id: email_id } = (yield* call("POST", "/v1/email/send", { ...MESSAGE, tracking: { opens: true } })).json
    const [key = new Uint8Array()] = yield* TrackedLinks.trackingKeys
    const mail = { account_id: account, email_id: email_id as EmailId }
    const click = TrackingToken.CLICK_PATH + TrackingToken.ofClick(key, { ...mail, url: TARGET })
    const open = TrackingToken.OPEN_PATH + TrackingToken.ofOpen(key, mail)
    const others = { account_id: other.account, email_id: email_id as EmailId, url: TARGET }
    const nodes = [undefined, yield* world.another]
    const followed = (path: string) =>
      Effect.map(
        Effect.forEach(nodes, (node) => world.request("GET", path, node === undefined ? {} : { node })),
        (answers) => statusesOf(answers),
      )
    assert.deepStrictEqual(yield* followed(click), [302, 302])

    for (const _ of [1, 2]) {
      const { id, links_stopped_at } = yield* CommandLine.typed("accounts", "links", "--account", account, "--off")
      assert.deepStrictEqual([id, typeof links_stopped_at], [account, "string"])
    }
    yield* World.until(followed(click), (statuses) => statuses.join() === "410,410")
    const stopped = yield* visit(click)
    assert.deepStrictEqual(
      [stopped.headers.get("location"), stopped.headers.get("cache-control")],
      [null, "no-store, private"],
    )
    assert.include(stopped.text, "has disabled its links.")
    assert.notInclude(stopped.text, "shop.test")
    // The pixel and other accounts' links keep working; an invalid token stays invalid.
    assert.deepStrictEqual(yield* followed(open), [200, 200])
    assert.deepStrictEqual(yield* followed(TrackingToken.CLICK_PATH + TrackingToken.ofClick(key, others)), [302, 302])
    assert.deepStrictEqual(yield* followed(`${click}x`), [404, 404])

    // Links in mail sent meanwhile are not tracked.
    const { url } = yield* Database.Fresh
    const server = yield* SmtpServer.listen()
    const stops = yield* Layer.build(StoppedLinks.layer)
    const track = TrackedLinks.trackingOf({
      ...WAY,
      secretKey: key,
      stopped: Context.get(stops, StoppedLinks.StoppedLinks),
    })
    yield* Layer.build(World.worker(url, { relay: World.relay(server) }, { track }))
    const tracking = { opens: true, clicks: true }
    const { id: later } = (yield* call("POST", "/v1/email/send", { ...MESSAGE, tracking })).json
    yield* World.settled({ account_id: account, stream_id: later })
    const sent = yield* Effect.promise(() => PostalMime.parse(server.mails.at(-1)?.bytes ?? Buffer.alloc(0)))
    assert.strictEqual((sent.html ?? "").replace(/<img [^>]*>/u, "").trimEnd(), HTML)
    assert.include(sent.html ?? "", BASE + TrackingToken.OPEN_PATH)

    yield* CommandLine.typed("accounts", "links", "--account", account, "--on")
    yield* World.until(followed(click), (statuses) => statuses.join() === "302,302")
    const { data } = (yield* call("GET", "/v1/audit")).json
    const hands = data.filter(({ type }: { type: string }) => type === "account.links_changed")
    assert.deepStrictEqual(
      hands.map(({ actor }: { actor: { type: string } }) => actor.type),
      ["operator", "operator"],
    )
    const changes = (yield* call("GET", "/v1/events?types=account.links_changed")).json.data
    assert.deepStrictEqual(
      changes.map(({ data }: { data: object }) => data),
      [{ followed: false }, { followed: true }],
    )
    // The state equals that before the links were stopped.
    const [row] = yield* Effect.orDie(
      world.sql`SELECT record ? 'links_stopped_at' AS has FROM accounts WHERE account_id = ${account}`,
    )
    assert.deepStrictEqual(row, { has: false })
    for (const invalid of [[], ["--on", "--off"]])
      assert.isTrue(
        Exit.isFailure((yield* CommandLine.type("accounts", "links", "--account", account, ...invalid)).exit),
      )
    assert.isTrue(
      Exit.isFailure((yield* CommandLine.type("accounts", "links", "--account", id("AccountId"), "--off")).exit),
    )
  })

  it.effect("is turned on for a domain with the scope, once", function* () {
    const { call, domain, keyWith, world } = yield* setUp
    const reader = yield* keyWith({ scopes: ["domains:read"] })
    const path = `/v1/domains/${domain.id}`
    const body = { open_tracking: true }
    assert.strictEqual((yield* world.request("PATCH", path, { key: reader, body })).status, 403)
    for (const invalid of [{ open_tracking: "yes" }, { click_tracking: 1 }, []])
      assert.strictEqual((yield* call("PATCH", "/v1/domains/acme.test", invalid)).status, 400)
    assert.strictEqual((yield* call("PATCH", "/v1/domains/bolt.test", body)).json.error.reason, "domain_not_found")
    for (const _ of [1, 2]) assert.isTrue((yield* call("PATCH", "/v1/domains/acme.test", body)).json.open_tracking)
    const same = yield* call("PATCH", "/v1/domains/acme.test", { click_tracking: null })
    assert.deepStrictEqual([same.json.open_tracking, same.json.click_tracking], [true, false])
    const changes = (yield* call("GET", "/v1/events?types=domain.tracking_changed")).json.data
    assert.deepStrictEqual(
      changes.map(({ data }: { data: object }) => data),
      [{ opens: true, clicks: false }],
    )
    const off = yield* call("PATCH", "/v1/domains/acme.test", { open_tracking: false })
    assert.deepStrictEqual(off.json, domain)
    // The state equals that before tracking was turned on, so that rows of other accounts need no rewrite.
    const [row] = yield* Effect.orDie(world.sql`SELECT record ? 'tracking' AS has FROM domains WHERE id = ${domain.id}`)
    assert.deepStrictEqual(row, { has: false })
  })
})

layer(HttpWorld.layer(), options)("without an address for links", (it) => {
  it.effect("tracking is refused with a message, and can be turned off", function* () {
    const { call } = yield* setUp
    const refusals = [
      yield* call("PATCH", "/v1/domains/acme.test", { click_tracking: true }),
      yield* call("POST", "/v1/email/send", { ...MESSAGE, tracking: { opens: true } }),
      yield* call("POST", "/v1/email/send/batch", { emails: [{ ...MESSAGE, tracking: { clicks: true } }] }),
    ]
    for (const { json, status } of refusals) {
      assert.deepStrictEqual(reasonOf({ json, status }), [422, "tracking_unavailable"])
      assert.include(json.error.message, "TRACKING_URL")
    }
    assert.strictEqual((yield* call("PATCH", "/v1/domains/acme.test", { click_tracking: false })).status, 200)
  })
})
