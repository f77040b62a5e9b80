import { Effect } from "effect"
import { createHmac } from "node:crypto"
import { Resend } from "resend"
import * as ResendReceived from "../../../apps/server/src/webhookFormats/ResendReceived.ts"
import { assert, layer } from "../../support/effectTest.ts"
import { HttpWorld } from "../../support/world/HttpWorld.ts"
import { CALLS } from "./resendCalls.ts"

/** Methods that the package's types hide. */
const PRIVATE: ReadonlySet<string> = new Set([
  "contacts.imports.appendField",
  "contacts.imports.buildColumnMap",
  "contacts.imports.buildCreateFormData",
  "emails.receiving.downloadRaw",
  "emails.receiving.forwardPassthrough",
  "emails.receiving.forwardWrapped",
  "templates.performCreate",
])

const isService = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !(value instanceof Headers) && !(value instanceof Resend)

const methodsOf = (service: object, path = ""): ReadonlyArray<string> => [
  ...Object.entries(service).flatMap(([name, value]) => (isService(value) ? methodsOf(value, `${path}${name}.`) : [])),
  ...(path === "" ? [] : Object.getOwnPropertyNames(Object.getPrototypeOf(service)))
    .filter((name) => name !== "constructor")
    .map((name) => `${path}${name}`),
]

type Outcome = { readonly error?: { readonly statusCode: number; readonly name: string; readonly message: string } }

const callOf = (resend: Resend, call: string) => (args: ReadonlyArray<unknown>) => {
  const names = call.split(".")
  const method = names.pop() ?? ""
  const service = names.reduce<unknown>((found, name) => (found as Record<string, unknown>)[name], resend)
  return (service as Record<string, (...args: ReadonlyArray<unknown>) => Promise<Outcome>>)[method]?.(...args)
}

/** Stands for an id, a payload or options of any call. */
const ANY = {
  ...Object.fromEntries(
    ["id", "inboxId", "threadId", "draftId", "labelId", "contactId", "segmentId", "automationId", "runId"].map(
      (name) => [name, "x1"],
    ),
  ),
  steps: [],
  connections: [],
  file: new Blob(["email\n"]),
  toString: () => "x1",
}

const setUp = Effect.gen(function* () {
  const world = yield* HttpWorld
  const { secret: key } = yield* world.key(yield* world.account())
  const post = (path: string, body: object) =>
    Effect.map(world.request("POST", path, { key, body }), ({ json }) => json)
  const [domain, spare] = [
    yield* post("/v1/domains", { name: "acme.test" }),
    yield* post("/v1/domains", { name: "b.test" }),
  ]
  const webhook = yield* post("/v1/webhooks", { url: "https://example.org/hook", events: ["email.queued"] })
  const mail = { from: "hi@acme.test", to: "ana@example.org", subject: "x", text: "x" }
  const attachments = [{ filename: "a.txt", content: "YQ==" }]
  const later = { ...mail, attachments, scheduled_at: new Date(Date.now() + 3_600_000).toISOString() }
  const [email, canceled] = [yield* post("/v1/email/send", later), yield* post("/v1/email/send", later)]
  const deliveries = yield* world.request("GET", `/v1/webhooks/${webhook.id}/deliveries`, { key })
  const hooks = { webhookId: webhook.id, eventId: deliveries.json.data[0].id }
  const gone = yield* post("/v1/webhooks", { url: "https://example.org/gone", events: ["*"] })
  const old = yield* post("/v1/api-keys", { name: "old", scopes: ["email:send"] })
  for (const address of ["a@x.test", "b@x.test"]) yield* post("/v1/suppressions", { email: address })
  const template = yield* post("/v1/templates", { name: "Hi", alias: "hi", language: "resend", html: "<p>{{{X}}}</p>" })
  yield* post("/v1/templates", { name: "Old", alias: "old" })
  const file = { filename: "a.txt", content: "YQ==" }
  const made = { from: "ana@example.org", to: "hi@acme.test", subject: "x", text: "x", attachments: [file] }
  const received = (yield* post("/v1/test/inbound", made)).id
  const receivedFile = { emailId: received, id: ResendReceived.attachmentIdOf(received, 0) }
  const attachment = { emailId: email.id, id: ResendReceived.attachmentIdOf(email.id, 0) }
  const at = String(Math.floor(Date.now() / 1_000))
  const signature = createHmac("sha256", Buffer.from(webhook.secret.slice(6), "base64"))
    .update(`evt_1.${at}.{}`)
    .digest("base64")
  const headers = { id: "evt_1", timestamp: at, signature: `v1,${signature}` }
  const args: Readonly<Record<string, ReadonlyArray<unknown>>> = {
    "apiKeys.create": [{ name: "new", permission: "sending_access", domain_id: domain.id }],
    "apiKeys.list": [{ limit: 1 }],
    "apiKeys.remove": [old.id],
    "batch.create": [[mail]],
    "batch.send": [[mail]],
    "domains.create": [{ name: "c.test", tls: "opportunistic", capabilities: { sending: "enabled" } }],
    "domains.get": [domain.id],
    "domains.list": [{ limit: 1 }],
    "domains.remove": [spare.id],
    "domains.update": [{ id: domain.id, openTracking: false, capabilities: { receiving: "enabled" } }],
    "domains.verify": [domain.id],
    "emails.attachments.get": [attachment],
    "emails.attachments.list": [{ emailId: email.id, limit: 1 }],
    "emails.cancel": [canceled.id],
    "emails.create": [mail],
    "emails.get": [email.id],
    "emails.list": [{ limit: 1 }],
    "emails.receiving.attachments.get": [receivedFile],
    "emails.receiving.attachments.list": [{ emailId: received, limit: 1 }],
    "emails.receiving.forward": [{ emailId: received, from: "hi@acme.test", to: "bo@example.org" }],
    "emails.receiving.get": [received],
    "emails.receiving.list": [{ limit: 1 }],
    "emails.send": [mail],
    "emails.update": [{ id: email.id, scheduledAt: "in 2 hours" }],
    "suppressions.add": [{ email: "c@x.test" }],
    "suppressions.batch.add": [{ emails: ["d@x.test"] }],
    "suppressions.batch.remove": [{ emails: ["d@x.test"] }],
    "suppressions.get": ["a@x.test"],
    "suppressions.list": [{ limit: 1 }],
    "suppressions.remove": ["b@x.test"],
    "templates.create": [{ name: "New", html: "<p>{{{X}}}</p>", variables: [{ key: "X", type: "string" }] }],
    "templates.duplicate": [template.id],
    "templates.get": ["hi"],
    "templates.list": [{ limit: 1 }],
    "templates.publish": ["hi"],
    "templates.remove": ["old"],
    "templates.update": [template.id, { subject: "Hello {{{X}}}" }],
    "usage.get": [],
    "webhooks.create": [{ endpoint: "https://example.org/new", events: ["email.sent"] }],
    "webhooks.events.attempts.list": [hooks],
    "webhooks.events.get": [hooks],
    "webhooks.events.list": [hooks],
    "webhooks.events.replay": [hooks],
    "webhooks.get": [webhook.id],
    "webhooks.list": [{ limit: 1 }],
    "webhooks.remove": [gone.id],
    "webhooks.rotateSigningSecret": [webhook.id],
    "webhooks.update": [webhook.id, { status: "enabled" }],
    "webhooks.verify": [{ payload: "{}", headers, webhookSecret: webhook.secret }],
  }
  const client = (secret: string) => new Resend(secret, { baseUrl: `${world.url}/compat/resend` })
  // One account's rate window does not hold all calls.
  const other = yield* world.key(yield* world.account())
  return { resend: client(key), other: client(other.secret), args }
})

layer(HttpWorld.layer({ minuteStands: true }), { excludeTestServices: true, timeout: "90 seconds" })(
  "the table of the package's calls",
  (it) => {
    it.effect("has every method of the package once", () =>
      Effect.sync(() => {
        const methods = methodsOf(new Resend("re_123")).filter((name) => !PRIVATE.has(name))
        assert.isAbove(methods.length, 140)
        assert.deepStrictEqual(CALLS.map(({ call }) => call).sort(), [...methods].sort())
      }),
    )

    it.effect("tells what each call gives", function* () {
      const { args, other, resend } = yield* setUp
      const wrong: Array<string> = []
      for (const { call, gives } of CALLS) {
        const outcome = yield* Effect.promise(async () =>
          callOf(gives === "works" ? resend : other, call)(args[call] ?? [ANY, ANY]),
        )
        const error = outcome?.error ?? undefined
        const given = error === undefined ? "works" : error.message
        if (given !== gives) wrong.push(`${call}: ${given}`)
        if (gives !== "works" && (error?.statusCode !== 404 || error.name !== "not_found"))
          wrong.push(`${call}: ${error?.statusCode} ${error?.name}`)
      }
      assert.deepStrictEqual(wrong, [])
      assert.sameMembers(
        Object.keys(args),
        CALLS.filter(({ gives }) => gives === "works").map(({ call }) => call),
      )
    })
  },
)
