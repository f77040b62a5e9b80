import { Effect } from "effect"
import { globSync, readFileSync } from "node:fs"
import { runInNewContext } from "node:vm"
import { assert, layer } from "../support/effectTest.ts"
import { HttpWorld } from "../support/world/HttpWorld.ts"

/** The page of the events has no requests, and a line for each event. */
const FILES = ["README.md", ...globSync("docs/*.md").toSorted()].filter((file) => file !== "docs/events.md")

const SAMPLES = FILES.flatMap((file) =>
  [...readFileSync(file, "utf8").matchAll(/^ *```json\n([^]*?)^ *```$/gmu)].map(([, text = ""]) => {
    const body = JSON.parse(text) as Readonly<Record<string, unknown>>
    return { file, body, title: text.trim().slice(0, 40) }
  }),
)
/** Samples that are no request: bodies of webhook calls, settings of programs, receipts, and lines to `waybill temporary`. */
const OTHERS = ["type", "RecordType", "mcpServers", "script", "origin", "listen"]
/** A list is a call of a webhook as SendGrid makes it. */
const REQUESTS = SAMPLES.filter(({ body }) => !Array.isArray(body) && !OTHERS.some((name) => name in body))

/** Returns the endpoint that takes a body of a sample. */
const endpointOf = (body: Readonly<Record<string, unknown>>): string =>
  "match" in body
    ? "/v1/inbound/routes"
    : "from" in body
      ? "/v1/email/send"
      : "reason" in body
        ? "/v1/suppressions"
        : assert.fail("a sample of which endpoint?")

layer(HttpWorld.layer({ tracks: true }), { excludeTestServices: true })(
  "samples of requests in the documents",
  (it) => {
    const service = Effect.gen(function* () {
      const world = yield* HttpWorld
      const { secret: key } = yield* world.key(yield* world.account())
      yield* world.request("POST", "/v1/domains", { key, body: { name: "acme.test" } })
      return { post: (path: string, body: unknown) => world.request("POST", path, { key, body }) }
    })

    for (const { body, file, title } of REQUESTS)
      it.effect(`${file}: ${title} is accepted`, function* () {
        const { post } = yield* service
        const { status, text } = yield* post(endpointOf(body), body)
        assert.include([200, 201], status, text)
      })

    it.effect("docs/coming-from.md: the time of a scheduled message is accepted", function* () {
      const { post } = yield* service
      const [, code = ""] = /`(new Date\([^`]+)`/u.exec(readFileSync("docs/coming-from.md", "utf8")) ?? []
      assert.notStrictEqual(code, "")
      const scheduled_at: unknown = runInNewContext(code)
      const body = { from: "hi@acme.test", to: "ana@example.org", subject: "Hello", scheduled_at }
      const { status, text } = yield* post("/v1/email/send", body)
      assert.strictEqual(status, 200, text)
    })
  },
)
