import { Api } from "@waybill/api/Api"
import { Ajv2020 } from "ajv/dist/2020.js"
import { Effect } from "effect"
import { OpenApi } from "effect/http-api"
import { assert, layer } from "../support/effectTest.ts"
import { HttpWorld } from "../support/world/HttpWorld.ts"

const served = JSON.parse(JSON.stringify(OpenApi.fromApi(Api)))

/** Validates bodies by the OpenAPI document alone, as generated clients and gateways do. */
const validatorOf = (method: string, path: string, unicodeRegExp: boolean) => {
  const ajv = new Ajv2020({
    strict: true,
    strictRequired: false,
    unicodeRegExp,
    formats: { "date-time": true, duration: /^P[0-9T]/u, uri: true },
  })
  ajv.addKeyword("components")
  const { schema } = served.paths[path][method.toLowerCase()].requestBody.content["application/json"]
  return ajv.compile({ ...schema, components: served.components })
}

const MESSAGE = { from: "Acme <hi@acme.test>", to: "ana@example.org", subject: "Hello" }
const KEY = { name: "n", scopes: ["email:send"] }
const HOOK = { url: "https://example.org/hook", events: ["email.delivered"] }
const RANGE = { created_after: "2026-11-01T00:00:00Z", created_before: "2026-11-02T00:00:00Z" }
const file = (over: object = {}) => ({ filename: "a.txt", content: "aGk=", ...over })
const many = <A>(count: number, item: A): ReadonlyArray<A> => Array.from({ length: count }, () => item)
const message = (over: object) => ({ ...MESSAGE, ...over })

interface Samples {
  readonly method: "POST" | "PATCH"
  readonly path: string
  readonly good: ReadonlyArray<unknown>
  readonly bad: ReadonlyArray<unknown>
}

const SAMPLES: ReadonlyArray<Samples> = [
  {
    method: "POST",
    path: "/v1/email/send",
    good: [
      MESSAGE,
      message({ to: ["ana@example.org", "Bo <bo@example.org>"], cc: null, bcc: [], reply_to: "a@acme.test" }),
      message({ to: many(50, "ana@example.org") }),
      message({ html: "<p>x</p>", text: null, headers: { "X-A": "1" }, tags: ["a"], list_unsubscribe: true }),
      message({ scheduled_at: "2026-11-21T10:00:00+01:00", tracking: { opens: false, clicks: null } }),
      message({ metadata: { order: "7041" } }),
      message({ attachments: many(20, file()) }),
      message({ attachments: [file({ content: "aGkg\r\naGk=\r\n", content_type: "text/plain", content_id: "x" })] }),
      message({ attachments: [file({ content: "" })] }),
    ],
    bad: [
      {},
      [],
      null,
      { ...MESSAGE, to: undefined },
      message({ to: [] }),
      message({ to: "" }),
      message({ to: [""] }),
      message({ to: many(51, "ana@example.org") }),
      message({ to: { address: "ana@example.org" } }),
      message({ to: null }),
      message({ cc: many(1_001, "ana@example.org") }),
      message({ reply_to: many(51, "ana@example.org") }),
      message({ subject: "x".repeat(999) }),
      message({ tags: many(6, "a") }),
      message({ tags: ["x".repeat(65)] }),
      message({ tags: [""] }),
      message({ metadata: { order: 7041 } }),
      message({ metadata: Object.fromEntries(Array.from({ length: 76 }, (_, nth) => [`n${nth}`, "v"])) }),
      message({ headers: { "X-A": 1 } }),
      message({ attachments: many(21, file()) }),
      message({ attachments: [{ filename: "a" }] }),
      message({ attachments: [file({ filename: "" })] }),
      message({ attachments: [file({ content: "a b=" })] }),
      message({ attachments: [file({ content: "=aGk" })] }),
      message({ attachments: [file({ content_id: "a b" })] }),
      message({ attachments: [file({ type: "text/plain" })] }),
      message({ tracking: { open: true } }),
      message({ scheduledAt: "2026-11-21T10:00:00Z" }),
    ],
  },
  {
    method: "POST",
    path: "/v1/email/send/batch",
    good: [
      { emails: [MESSAGE] },
      { emails: many(100, MESSAGE), mode: "permissive" },
      { emails: [MESSAGE], mode: null },
    ],
    bad: [
      {},
      { emails: [] },
      { emails: many(101, MESSAGE) },
      { emails: [message({ to: [] })] },
      { emails: [message({ Bcc: "a@acme.test" })] },
      { emails: [MESSAGE], mode: "some" },
      { emails: [MESSAGE], modes: "permissive" },
    ],
  },
  {
    method: "PATCH",
    path: "/v1/email/{id}",
    good: [{ scheduled_at: "2026-11-21T10:00:00Z" }],
    bad: [{}, { scheduled_at: null }, { scheduled_at: 1 }, { scheduledAt: "2026-11-21T10:00:00Z" }],
  },
  {
    method: "POST",
    path: "/v1/domains",
    good: [{ name: "b.test" }, { domain: "c.test" }, { name: "d.test", domain: "d.test" }],
    bad: [{}, { name: 1 }, { name: null }, { domains: "b.test" }, { name: "b.test", region: "eu" }],
  },
  {
    method: "PATCH",
    path: "/v1/domains/{domain}",
    good: [{}, { open_tracking: null, click_tracking: false }, { tracking_domain: null }],
    bad: [{ open_track: true }, { open_tracking: "yes" }, { tracking_domain: 1 }],
  },
  {
    method: "POST",
    path: "/v1/api-keys",
    good: [KEY, { ...KEY, domain: null, allowed_ips: ["10.0.0.0/8"], expires_at: "2099-01-01T00:00:00Z" }],
    bad: [
      {},
      { ...KEY, name: "" },
      { ...KEY, name: "x".repeat(101) },
      { ...KEY, scopes: [] },
      { ...KEY, scopes: ["all"] },
      { ...KEY, allowed_ips: many(51, "10.0.0.1") },
      { ...KEY, permissions: [] },
    ],
  },
  {
    method: "POST",
    path: "/v1/webhooks",
    good: [HOOK, { ...HOOK, events: ["*"], description: null, enabled: false }],
    bad: [
      {},
      { ...HOOK, events: [] },
      { ...HOOK, events: ["email.lost"] },
      { ...HOOK, events: many(51, "*") },
      { ...HOOK, description: "x".repeat(501) },
      { ...HOOK, secret: "x" },
    ],
  },
  {
    method: "PATCH",
    path: "/v1/webhooks/{id}",
    good: [{}, { enabled: true }, { events: ["*"], description: null }],
    bad: [{ enabled: null }, { events: [] }, { active: true }],
  },
  {
    method: "POST",
    path: "/v1/webhooks/{id}/replay",
    good: [RANGE, { ...RANGE, after_position: null, events: ["*"] }],
    bad: [{}, { ...RANGE, events: [] }, { ...RANGE, after_position: "1" }, { ...RANGE, limit: 5 }],
  },
  {
    method: "POST",
    path: "/v1/suppressions",
    good: [{ email: "ana@example.org" }, { email: "ana@example.org", reason: "manual" }],
    bad: [{}, { email: 1 }, { email: "ana@example.org", reason: "x" }, { address: "ana@example.org" }],
  },
  {
    method: "POST",
    path: "/v1/suppressions/batch",
    good: [{ add: [{ email: "ana@example.org" }, { email: "nobody", reason: "complaint" }] }, { remove: ["a@b.test"] }],
    bad: [
      { add: [] },
      { add: [{ email: 1 }] },
      { remove: [{ email: "a@b.test" }] },
      { add: [{ email: "a", reason: "x" }] },
    ],
  },
  {
    method: "POST",
    path: "/v1/members",
    good: [{ email: "bo@example.org", role: "viewer", name: null }],
    bad: [{}, { email: "bo@example.org", role: "admin" }, { email: "bo@example.org", role: "viewer", name: "" }],
  },
  {
    method: "PATCH",
    path: "/v1/members/{id}",
    good: [{ role: "viewer" }],
    bad: [{}, { role: "admin" }, { role: "viewer", name: "A" }],
  },
  {
    method: "POST",
    path: "/v1/test/inbound",
    good: [
      { from: "Ana <ana@example.org>", to: "hi@acme.test", subject: "Hello", text: "Hi" },
      { from: "ana@example.org", to: ["hi@acme.test"], raw: "SGk=", html: null },
      { raw: Buffer.from("To: hi@acme.test\r\n\r\nHi").toString("base64") },
    ],
    bad: [
      {},
      { from: "ana@example.org" },
      { from: "ana@example.org", to: [] },
      { from: "ana@example.org", to: "hi@acme.test", raw: 3 },
      { from: "ana@example.org", to: "hi@acme.test", body: "Hi" },
    ],
  },
  {
    method: "POST",
    path: "/v1/inbound/{id}/reply",
    good: [
      { from: "hi@acme.test", text: "Hi" },
      { from: "hi@acme.test", html: null, cc: "bo@example.org" },
    ],
    bad: [{}, { from: "hi@acme.test", to: "ana@example.org" }, { from: "hi@acme.test", subject: "x" }],
  },
  {
    method: "POST",
    path: "/v1/inbound/{id}/forward",
    good: [{ to: "bo@example.org" }, { to: ["bo@example.org", "cy@example.org"] }],
    bad: [{}, { to: [] }, { to: 7 }, { to: "bo@example.org", text: "x" }],
  },
  {
    method: "POST",
    path: "/v1/inbound/routes",
    good: [
      { action: { type: "forward", to: ["bo@example.org"] } },
      { action: { type: "drop" } },
      { match: { to: "support+*@acme.test", verdict: "fail" }, action: { type: "reject", message: "No" }, position: 3 },
      { match: null, action: { type: "webhook", webhook_id: null }, stop: true, enabled: false },
    ],
    bad: [
      {},
      { action: { type: "burn" } },
      { action: { type: "drop" }, position: -1 },
      { match: { to: 3 }, action: { type: "drop" } },
      { match: { verdict: "good" }, action: { type: "drop" } },
    ],
  },
  {
    method: "PATCH",
    path: "/v1/inbound/routes/{id}",
    good: [{ enabled: false }, { match: {}, action: { type: "store" } }],
    bad: [{ enabled: "no" }, { action: {} }],
  },
  {
    method: "POST",
    path: "/v1/inbound/routes/test",
    good: [
      { to: "hi@acme.test", from: "ana@example.org" },
      { to: ["hi@acme.test"], from: "ana@example.org", subject: "x" },
    ],
    bad: [{}, { to: [], from: "ana@example.org" }, { to: "hi@acme.test", from: "ana@example.org", verdict: "x" }],
  },
  {
    method: "POST",
    path: "/v1/test/clocks",
    good: [{}, { name: null, now: "2030-01-01T00:00:00Z" }],
    bad: [{ name: "" }, { now: 3 }, { time: "2030-01-01T00:00:00Z" }],
  },
  {
    method: "POST",
    path: "/v1/templates",
    good: [
      { name: "Receipt" },
      {
        name: "Receipt",
        alias: "receipt",
        kind: "layout",
        html: "<p>{{ name }}</p>",
        locales: { de: { subject: "Hi" } },
      },
    ],
    bad: [{}, { name: "" }, { name: "x", alias: "1" }, { name: "x", kind: "page" }, { name: "x", body: "" }],
  },
  {
    method: "PATCH",
    path: "/v1/templates/{template}",
    good: [{}, { html: null, variables: { type: "object" } }, { unchanged_since: "2026-11-30T09:00:00.000Z" }],
    bad: [{ name: null }, { html: 3 }, { status: "archived" }, { unchanged_since: 3 }],
  },
  {
    method: "POST",
    path: "/v1/templates/{template}/publish",
    good: [{}, { notes: null, unchanged_since: null }],
    bad: [{ notes: 3 }, { note: "x" }],
  },
  { method: "POST", path: "/v1/templates/{template}/rollback", good: [{ version: 1 }], bad: [{}, { version: 0 }] },
  {
    method: "POST",
    path: "/v1/templates/{template}/duplicate",
    good: [{}, { name: "x", alias: null }],
    bad: [{ name: "" }, { id: "x" }],
  },
  {
    method: "POST",
    path: "/v1/templates/{template}/render",
    good: [{}, { version: 1, variables: { name: "Ana" }, locale: "de", time_zone: "Europe/Berlin" }, { draft: {} }],
    bad: [{ variables: [] }, { locale: "german!" }, { time_zone: 3 }],
  },
  {
    method: "POST",
    path: "/v1/templates/push",
    good: [
      { templates: [{ alias: "receipt", name: "Receipt" }] },
      {
        templates: [
          { alias: "base", name: "Base", kind: "layout", publish: false, base: "none", html: "{{ content }}" },
        ],
        publish: true,
        dry_run: true,
        notes: "First",
      },
    ],
    bad: [
      {},
      { templates: [] },
      { templates: [{ name: "Receipt" }] },
      { templates: [{ alias: "x", name: "x" }], publish: "yes" },
      { templates: [{ alias: "x", name: "x", base: "" }] },
    ],
  },
  {
    method: "POST",
    path: "/v1/templates/validate",
    good: [{}, { html: "<p>Hi</p>", reply_to: ["a@b.test"] }],
    bad: [{ html: 3 }, { from: 3 }, { name: "x" }],
  },
  {
    method: "POST",
    path: "/v1/test/clocks/{id}/advance",
    good: [{ by: "P3D" }, { by: null, to: "2030-01-01T00:00:00Z" }],
    bad: [{ by: "3 days" }, { by: 3 }, { to: 3 }, { days: 3 }],
  },
]

const PREFIXES = [
  ["/email/", "msg"],
  ["/inbound/routes/", "rte"],
  ["/inbound/", "inb"],
  ["/webhooks/", "whk"],
  ["/clocks/", "clk"],
] as const

const filled = (path: string): string =>
  path
    .replace("{domain}", "acme.test")
    .replace("{template}", "receipt")
    .replace("{id}", () => {
      const of = PREFIXES.find(([part]) => path.includes(part))
      return `${of?.[1] ?? "usr"}_${"0".repeat(26)}`
    })

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "90 seconds" })("request bodies", (it) => {
  it.effect("of every operation have samples", () =>
    Effect.sync(() => {
      const operations = Object.entries(served.paths).flatMap(([path, methods]) =>
        Object.entries(methods as Record<string, { requestBody?: unknown }>).flatMap(([method, operation]) =>
          operation.requestBody === undefined ? [] : [`${method.toUpperCase()} ${path}`],
        ),
      )
      assert.sameMembers(
        SAMPLES.map(({ method, path }) => `${method} ${path}`),
        operations,
      )
    }),
  )

  for (const { bad, good, method, path } of SAMPLES)
    it.effect(`${method} ${path} takes and refuses the same by its schema and by the server`, function* () {
      const world = yield* HttpWorld
      const account = yield* world.account()
      const { secret: key } = yield* world.key(account, path.startsWith("/v1/test/") ? { mode: "test" } : {})
      yield* world.request("POST", "/v1/domains", { key, body: { name: "acme.test" } })
      const validators = [true, false].map((unicode) => validatorOf(method, path, unicode))
      for (const [samples, isGood] of [
        [good, true],
        [bad, false],
      ] as const)
        for (const body of samples) {
          const what = JSON.stringify(body).slice(0, 200)
          // Without fields that are undefined, as they are sent.
          const sent: unknown = JSON.parse(JSON.stringify(body))
          for (const validate of validators) assert.strictEqual(validate(sent), isGood, `schema: ${what}`)
          const { status, text } = yield* world.request(method, filled(path), { key, body })
          assert.strictEqual(status !== 400, isGood, `server: ${status} ${what} ${text.slice(0, 300)}`)
        }
    })
})
