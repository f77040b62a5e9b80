import * as Cells from "@waybill/store/routing/Cells"
import * as CellSchema from "@waybill/store/cells/CellSchema"
import * as ProviderMessages from "@waybill/store/providers/ProviderMessages"
import type * as Id from "@waybill/domain/values/Id"
import { Duration, Effect, Layer } from "effect"
import { createHmac, randomBytes } from "node:crypto"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as Receiver from "../../support/web/WebhookReceiver.ts"
import * as Webhooks from "../../support/web/Webhooks.ts"
import { EMAIL, HttpWorld, reasonOf } from "../../support/world/HttpWorld.ts"
import * as World from "../../support/world/World.ts"
import { dnsZones } from "../../support/mail/dnsZones.ts"
import { makeHook } from "../providers/support.ts"
import { send as sendBySmtp, submission } from "../smtp/support.ts"

const CELLS = ["public", "cell_b"] as const
const ACCOUNTS_PER_CELL = 2
const MAILS_BY_HTTP = 12
const MAILS_BY_SMTP = 6
const MAILS = MAILS_BY_HTTP + MAILS_BY_SMTP

const world = HttpWorld.layer({ allowedNetworks: ["127.0.0.0/8"] }).pipe(Layer.provideMerge(dnsZones({})))

/** An account in a cell, with a domain, a key that is revoked later, and a webhook at an endpoint of its own. */
const tenantIn = Effect.fnUntraced(function* (cell: string) {
  const { request } = yield* HttpWorld
  const account_id = yield* World.accountIn(cell)
  const { secret: key } = yield* World.key(account_id)
  const former = yield* World.key(account_id)
  const call = (method: string, path: string, body?: unknown, with_key = key) =>
    request(method, path, { key: with_key, body })
  assert.strictEqual((yield* call("POST", "/v1/domains", { name: "acme.test" })).status, 201)
  const receiver = yield* Receiver.listen()
  const webhook = yield* call("POST", "/v1/webhooks", { url: receiver.url, events: ["email.queued", "email.bounced"] })
  assert.strictEqual(webhook.status, 201, webhook.text)
  for (const [path, body, status] of [
    ["", { email: "one@example.net" }, 201],
    ["/batch", { add: [{ email: "two@example.net" }] }, 200],
  ] as const) {
    const suppressed = yield* call("POST", `/v1/suppressions${path}`, body)
    assert.strictEqual(suppressed.status, status, suppressed.text)
  }
  return { cell, account_id, key, former, call, receiver, secret: String(webhook.json.secret) }
})

/** Whether a call has the signature of a secret, as in Standard Webhooks. */
const isSignedBy = (secret: string, { body, headers }: Receiver.Received): boolean => {
  const key = Buffer.from(secret.replace("whsec_", ""), "base64")
  const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`
  const signature = `v1,${createHmac("sha256", key).update(signed).digest("base64")}`
  return (headers["webhook-signature"] ?? "").split(" ").includes(signature)
}

type Tenant = Effect.Success<ReturnType<typeof tenantIn>>

const sendAll = ({ call, key }: Tenant, port: number) =>
  Effect.all(
    [
      Effect.forEach(
        Array.from({ length: MAILS_BY_HTTP }, (_, nth) => nth),
        (nth) => call("POST", "/v1/email/send", { ...EMAIL, to: `http${nth}@example.org` }),
        { concurrency: 4 },
      ),
      Effect.forEach(
        Array.from({ length: MAILS_BY_SMTP }, (_, nth) => nth),
        (nth) => sendBySmtp(port, key, { ...EMAIL, to: `smtp${nth}@example.org` }),
        { concurrency: 2 },
      ),
    ],
    { concurrency: 2 },
  )

layer(world, { excludeTestServices: true, timeout: "120 seconds" })(
  "requests of accounts in two cells at once",
  (it) => {
    it.effect(
      "are accepted over HTTP and SMTP, reported to each endpoint, and refused with a revoked key",
      function* () {
        const { url } = yield* Database.Fresh
        yield* CellSchema.make("cell_b")
        const cells = CELLS.flatMap((cell) => Array.from({ length: ACCOUNTS_PER_CELL }, () => cell))
        const tenants = yield* Effect.forEach(cells, tenantIn)
        const port = yield* submission()
        const { report } = yield* makeHook("postmark")
        yield* Layer.build(Webhooks.worker(url))

        /** A message that a provider took, and then reports as bounced. */
        const bounce = Effect.fnUntraced(function* ({ account_id, call }: Tenant) {
          const to = "gone@example.org"
          const { json } = yield* call("POST", "/v1/email/send", { ...EMAIL, to })
          const ref = randomBytes(12).toString("hex")
          yield* ProviderMessages.keep([ref], { account_id, email_id: json.id as Id.EmailId })
          const about = {
            kind: "bounced",
            to,
            messageId: `<${json.id}@acme.test>`,
            ref,
            id: ref,
            at: Date.now(),
          } as const
          assert.strictEqual((yield* report(about)).text, "Thank you\n")
          return String(json.id)
        })
        const revoke = Effect.fnUntraced(function* ({ call, former }: Tenant) {
          assert.strictEqual((yield* call("POST", "/v1/email/send", EMAIL, former.secret)).status, 200)
          assert.strictEqual((yield* call("DELETE", `/v1/api-keys/${former.id}`)).status, 200)
          const refused = yield* World.until(
            call("POST", "/v1/email/send", EMAIL, former.secret),
            ({ status }) => status !== 200,
          )
          assert.deepStrictEqual(reasonOf(refused), [401, "api_key_invalid"])
          const reply = yield* sendBySmtp(port, former.secret, EMAIL)
          assert.match(reply, /^535 /u)
        })
        const done = yield* Effect.forEach(
          tenants,
          (tenant) => Effect.all([sendAll(tenant, port), bounce(tenant), revoke(tenant)], { concurrency: "unbounded" }),
          { concurrency: "unbounded" },
        )

        for (const [nth, tenant] of tenants.entries()) {
          const [[byHttp, bySmtp], bounced] = done[nth] ?? [[[], []], ""]
          const where = `account ${nth} in ${tenant.cell}`
          assert.deepStrictEqual([...new Set(byHttp.map(({ status }) => status))], [200], where)
          for (const reply of bySmtp) assert.match(reply, /^250 /u, where)
          assert.strictEqual(yield* Effect.flatMap(Cells.Cells, ({ of }) => of(tenant.account_id)), tenant.cell)
          const typeOf = ({ body }: Receiver.Received): string => JSON.parse(body).type
          const calls = yield* World.until(
            Effect.sync(() => tenant.receiver.calls),
            (all) => all.filter((call) => typeOf(call) === "email.bounced").length === 1 && all.length >= MAILS + 3,
            Duration.seconds(60),
          )
          for (const call of calls) {
            assert.isTrue(isSignedBy(tenant.secret, call), where)
            for (const other of tenants) if (other !== tenant) assert.isFalse(isSignedBy(other.secret, call), where)
          }
          const ids = new Set(calls.map(({ headers }) => headers["webhook-id"]))
          assert.strictEqual(ids.size, calls.length, `${where}: no event is reported twice`)
          const { json } = yield* tenant.call("GET", `/v1/email/logs/${bounced}`)
          assert.strictEqual(json.status, "bounced", where)
        }
      },
    )
  },
)
