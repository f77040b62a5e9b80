import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { signUp, HttpWorld } from "../../support/world/HttpWorld.ts"

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
]

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "90 seconds" })("a message through a door", (it) => {
  it.effect("is answered by the fast path as by the normal one, which an empty query takes", () =>
    Effect.gen(function* () {
      const { key, log, world } = yield* signUp({ domains: ["acme.test"] })
      for (const { body, path, status, what } of SAMPLES) {
        const fast = yield* world.request("POST", path, { key, body })
        const normal = yield* world.request("POST", `${path}?`, { key, body })
        assert.deepStrictEqual([fast.status, normal.status], [status, status], `${what}: ${fast.text} ${normal.text}`)
        assert.deepStrictEqual(Object.keys(fast.json), Object.keys(normal.json), what)
        if (status !== 200) assert.deepStrictEqual(fast.json, normal.json, what)
        else {
          const records = yield* Effect.forEach([fast, normal], ({ json }) => log(json.id))
          const [first, second] = records.map(({ from, reply_to, size_bytes, subject, tags, to }) =>
            JSON.stringify([from, reply_to, size_bytes, subject, tags, to]),
          )
          assert.deepStrictEqual(first, second, what)
        }
      }
    }),
  )

  it.effect("is replayed from one path to the other, and refused with another body", () =>
    Effect.gen(function* () {
      const { key, world } = yield* signUp({ domains: ["acme.test"] })
      const headers = { "idempotency-key": "once" }
      const send = (path: string, body: object) => world.request("POST", path, { key, body, headers })
      const first = yield* send("/compat/resend/emails", EMAIL)
      const again = yield* send("/compat/resend/emails?", EMAIL)
      assert.deepStrictEqual([first.status, again.json], [200, first.json])
      assert.strictEqual(again.headers.get("idempotent-replayed"), "true")
      const other = yield* send("/compat/resend/emails", { ...EMAIL, subject: "Another" })
      assert.deepStrictEqual([other.status, other.json.name], [409, "invalid_idempotent_request"])
    }),
  )
})
