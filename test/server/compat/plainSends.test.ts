import { Effect } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import { type Answer, HttpWorld, signUp } from "../../support/world/HttpWorld.ts"

const EMAIL = { from: "Acme <hi@acme.test>", to: "ana@example.org", subject: "Hello", text: "Hi" }
const FILE = { filename: "a.txt", content: "aGk=" }

interface Sample {
  readonly what: string
  readonly path: string
  readonly body: unknown
  readonly status: number
}

const resend = (what: string, over: object, status = 200): Sample => ({
  what: `resend, ${what}`,
  path: "/compat/resend/emails",
  body: { ...EMAIL, ...over },
  status,
})

const idOf = ({ headers, json }: Answer): string => json?.id ?? json?.MessageID ?? headers.get("x-message-id") ?? ""

const PASCAL_FILE = { Name: "a.txt", Content: "aGk=", ContentType: "text/plain" }

const postmark = (what: string, over: object, status = 200): Sample => ({
  what: `postmark, ${what}`,
  path: "/compat/postmark/email",
  body: { From: EMAIL.from, To: EMAIL.to, Subject: EMAIL.subject, TextBody: EMAIL.text, ...over },
  status,
})

const PERSON = { to: [{ email: EMAIL.to }] }

const sendgrid = (what: string, over: object, status: number): Sample => ({
  what: `sendgrid, ${what}`,
  path: "/compat/sendgrid/v3/mail/send",
  body: {
    from: { email: "hi@acme.test" },
    subject: EMAIL.subject,
    content: [{ type: "text/plain", value: EMAIL.text }],
    personalizations: [PERSON],
    ...over,
  },
  status,
})

const SAMPLES: ReadonlyArray<Sample> = [
  resend("a plain message", {}),
  resend("tags, headers and a file", {
    tags: [{ name: "kind", value: "receipt" }],
    headers: { "X-Order": "1" },
    attachments: [FILE],
    topic_id: null,
  }),
  resend("a time in ISO 8601", { scheduled_at: new Date(Date.now() + 3_600_000).toISOString() }),
  resend("a time in words", { scheduled_at: "in 1 hour" }),
  resend("an unknown field", { tracking: { opens: true } }, 400),
  resend("a tag that Resend refuses", { tags: [{ name: "a b", value: "" }] }, 400),
  resend("a file without content", { attachments: [{ filename: "a.txt" }] }, 422),
  resend("a foreign domain", { from: "hi@other.test" }, 403),
  resend("no recipient", { to: [] }, 400),
  postmark("a plain message", {}),
  postmark("a tag, pairs and a file", { Tag: "a", Metadata: { order: "1" }, Attachments: [PASCAL_FILE] }),
  postmark("a foreign domain", { From: "hi@other.test" }, 422),
  postmark("a template", { TemplateId: 7 }, 422),
  postmark("no recipient", { To: "" }, 422),
  sendgrid("a plain message", {}, 202),
  sendgrid("categories and arguments", { categories: ["a"], custom_args: { order: "1" } }, 202),
  sendgrid("two personalizations", { personalizations: [PERSON, PERSON] }, 202),
  sendgrid("a foreign domain", { from: { email: "hi@other.test" } }, 403),
  sendgrid("a template", { template_id: "d-1" }, 400),
]

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "90 seconds" })("a message through a door", (it) => {
  it.effect("is answered by the fast path as by the normal one, which an empty query takes", function* () {
    const { key, log, world } = yield* signUp({ domains: ["acme.test"] })
    for (const { body, path, status, what } of SAMPLES) {
      const headers = { "x-postmark-server-token": key }
      const fast = yield* world.request("POST", path, { key, headers, body })
      const normal = yield* world.request("POST", `${path}?`, { key, headers, body })
      assert.deepStrictEqual([fast.status, normal.status], [status, status], `${what}: ${fast.text} ${normal.text}`)
      assert.deepStrictEqual(Object.keys(fast.json ?? {}), Object.keys(normal.json ?? {}), what)
      if (status >= 300) assert.deepStrictEqual(fast.json, normal.json, what)
      else {
        const records = yield* Effect.forEach([fast, normal], (answer) => log(idOf(answer)))
        const [first, second] = records.map(({ from, reply_to, size_bytes, subject, tags, to }) =>
          JSON.stringify([from, reply_to, size_bytes, subject, tags, to]),
        )
        assert.deepStrictEqual(first, second, what)
      }
    }
  })

  it.effect("is replayed from one path to the other, and refused with another body", function* () {
    const { key, world } = yield* signUp({ domains: ["acme.test"] })
    const headers = { "idempotency-key": "once" }
    const send = (path: string, body: object) => world.request("POST", path, { key, body, headers })
    const first = yield* send("/compat/resend/emails", EMAIL)
    const again = yield* send("/compat/resend/emails?", EMAIL)
    assert.deepStrictEqual([first.status, again.json], [200, first.json])
    assert.strictEqual(again.headers.get("idempotent-replayed"), "true")
    const other = yield* send("/compat/resend/emails", { ...EMAIL, subject: "Another" })
    assert.deepStrictEqual([other.status, other.json.name], [409, "invalid_idempotent_request"])
  })
})
