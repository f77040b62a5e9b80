import { EventStore } from "@waybill/store/commit/EventStore"
import * as StoreDatabase from "@waybill/store/database/Database"
import { Effect, Layer, Schema } from "effect"
import { fileURLToPath } from "node:url"
import { assert, layer } from "../../support/effectTest.ts"
import * as DnsServer from "../../support/mail/dnsServer.ts"
import * as Database from "../../support/postgres/Database.ts"
import { freePort } from "../../support/process/service.ts"
import * as ServiceProcess from "../../support/world/ServiceProcess.ts"
import * as World from "../../support/world/World.ts"

const OTHER_HOSTS = new URL("../../support/process/otherHosts.mjs", import.meta.url).href
const fixture = (name: string) => fileURLToPath(new URL(`../../fixtures/tls/${name}`, import.meta.url))
const SPF = "v=spf1 ip4:127.0.0.1 -all"

const Records = Schema.Array(
  Schema.Struct({
    type: Schema.String,
    name: Schema.String,
    value: Schema.String,
    priority: Schema.NullOr(Schema.Number),
  }),
)

interface Side {
  readonly domain: string
  readonly address: string
  readonly port: number
}

const SIDES = { one: { domain: "one.dev", address: "9.9.9.9" }, two: { domain: "two.dev", address: "9.9.9.10" } }

layer(World.layer, { excludeTestServices: true, timeout: "240 seconds" })("two instances", (it) => {
  it.effect("write to each other over STARTTLS, and a reply is matched to its mail", function* () {
    const { url } = yield* Database.Fresh
    const dns = yield* DnsServer.listen()
    const [first, second] = yield* Effect.promise(() => Promise.all([freePort(), freePort()]))
    const sides = { one: { ...SIDES.one, port: first }, two: { ...SIDES.two, port: second } }
    const hosts = Object.values(sides).map(({ address, port }) => `${address}=${port}`)
    /** An instance that delivers directly, and an account whose domain is published and receives. */
    const start = Effect.fnUntraced(function* ({ address, domain, port }: Side, database: typeof url) {
      const name = `mx.${domain}`
      dns.set(name, { A: [address] })
      dns.set(`bounces.${domain}`, { TXT: [SPF], MX: [[10, name]] })
      dns.set(domain, { TXT: [SPF] })
      dns.set(`_dmarc.${domain}`, { TXT: ["v=DMARC1; p=reject"] })
      const node = yield* ServiceProcess.start(database, {
        TRANSPORT: "direct",
        DNS_SERVERS: dns.server,
        EHLO_NAME: name,
        RETURN_PATH_DOMAIN: `bounces.${domain}`,
        MAIL_PORT: String(port),
        SMTP_TLS_CERT: fixture("selfsigned.pem"),
        SMTP_TLS_KEY: fixture("selfsigned.key"),
        NODE_OPTIONS: `--import=${OTHER_HOSTS}`,
        WAYBILL_TEST_HOSTS: hosts.join(","),
      })
      const store = EventStore.layer().pipe(Layer.provideMerge(StoreDatabase.layer({ url: database })))
      const { key, post } = yield* Effect.provide(ServiceProcess.signUp(node, { domain }), store)
      const call = (method: string, path: string, body?: unknown) =>
        Effect.promise(() => node.request(method, path, { key, ...(body === undefined ? {} : { body }) }))
      const { json } = yield* call("PATCH", `/v1/domains/${domain}`, { receiving: true })
      for (const { name: at, priority, type, value } of Schema.decodeUnknownSync(Records)(json.records)) {
        if (type === "MX") dns.set(at, { MX: [[priority ?? 10, value]], ...(at === domain && { TXT: [SPF] }) })
        else if (type === "CNAME") dns.set(at, { CNAME: value })
        else if (at !== domain) dns.set(at, { TXT: [value] })
      }
      const verified = yield* post(`/v1/domains/${domain}/verify`, {})
      assert.strictEqual(verified.json.status, "verified", JSON.stringify(verified.json))
      return { call, post }
    })
    /** The only mail that an account has received, when it is there. */
    const received = (side: Effect.Success<ReturnType<typeof start>>) =>
      Effect.gen(function* () {
        const page = yield* World.until(side.call("GET", "/v1/inbound"), ({ json }) => json.data.length > 0)
        assert.lengthOf(page.json.data, 1)
        return (yield* side.call("GET", `/v1/inbound/${page.json.data[0].id}`)).json
      })

    const one = yield* start(sides.one, url)
    const two = yield* start(sides.two, (yield* Database.freshDatabase).url)
    const question = { from: "Ana <ana@one.dev>", to: "support@two.dev", subject: "My order", text: "Where is it?" }
    const sent = yield* one.post("/v1/email/send", question)
    assert.strictEqual(sent.status, 200, JSON.stringify(sent.json))

    const asked = yield* received(two)
    assert.deepInclude(asked, { subject: "My order", stripped_text: "Where is it?", email_id: null })
    assert.deepInclude(asked.envelope, { to: ["support@two.dev"], helo: "mx.one.dev", tls: "TLSv1.3" })
    assert.deepInclude(asked.auth, { spf: "pass", dmarc: "pass" })
    assert.deepStrictEqual(asked.auth.dkim, [{ domain: "one.dev", result: "pass" }])

    const answer = { from: "Support <support@two.dev>", text: "On its way." }
    const replied = yield* two.post(`/v1/inbound/${asked.id}/reply`, answer)
    assert.strictEqual(replied.status, 200, JSON.stringify(replied.json))
    const back = yield* received(one)
    assert.deepInclude(back, { subject: "Re: My order", email_id: sent.json.id })
    assert.deepInclude(back.envelope, { to: ["ana@one.dev"], tls: "TLSv1.3" })
    assert.deepInclude(back.auth, { spf: "pass", dmarc: "pass" })

    // Both see one conversation, each from its side.
    for (const [side, mail, directions] of [
      [one, back, ["sent", "received"]],
      [two, asked, ["received", "sent"]],
    ] as const) {
      const { json } = yield* side.call("GET", `/v1/threads/${mail.thread_id}`)
      assert.deepStrictEqual(
        json.data.map(({ direction }: { readonly direction: string }) => direction),
        directions,
      )
    }
    const { json } = yield* one.call("GET", `/v1/email/logs/${sent.json.id}`)
    assert.strictEqual(json.status, "delivered")
  })
})
