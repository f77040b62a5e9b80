import { Api } from "@waybill/api/Api"
import * as ApiError from "@waybill/api/errors/ApiError"
import { Effect, Exit, Schema } from "effect"
import { HttpApi, type HttpApiEndpoint, HttpApiSchema, OpenApi } from "effect/http-api"
import { dice } from "../../support/dice.ts"
import { assert, layer } from "../../support/effectTest.ts"
import { type Answer, HttpWorld } from "../../support/world/HttpWorld.ts"

/** Set WAYBILL_FUZZ_SEED for other requests; a failure prints its seed. */
const SEED = Number(process.env["WAYBILL_FUZZ_SEED"] ?? 20261121)
const ROUNDS = Number(process.env["WAYBILL_FUZZ_ROUNDS"] ?? 20)
const PATIENCE_MS = 600_000
/** Below the 60 requests of the logs' rate window. */
const CALLS_A_KEY = 50

// A JSON Schema document.
// oxlint-disable-next-line typescript/no-explicit-any
type Json = { readonly [key: string]: any }

const document = JSON.parse(JSON.stringify(OpenApi.fromApi(Api))) as Json

interface Operation {
  readonly method: string
  readonly path: string
  readonly spec: Json
  readonly status: number
  readonly success: Schema.Codec<unknown, unknown>
}

const operations: Array<Operation> = []
HttpApi.reflect(Api, {
  onGroup: () => {},
  onEndpoint: ({ endpoint }) => {
    const { method, path, success } = endpoint as HttpApiEndpoint.Top
    if (!path.startsWith("/v1/")) return
    const name = path.replaceAll(/:(\w+)/gu, "{$1}")
    const spec = document["paths"][name][method.toLowerCase()] as Json
    // A response that never ends cannot be checked here.
    if (Object.values<Json>(spec["responses"]).some(({ content }) => content?.["text/event-stream"] !== undefined))
      return
    const [schema] = [...(success as Iterable<Schema.Top>)].map((each) =>
      HttpApiSchema.isWithHeaders(each) ? each.schema : each,
    )
    const status = Number(Object.keys(spec["responses"]).find((each) => each.startsWith("2")))
    operations.push({ method, path: name, spec, status, success: schema as Schema.Codec<unknown, unknown> })
  },
})

type Dice = ReturnType<typeof dice>

const JUNK: ReadonlyArray<unknown> = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  "",
  " ",
  "x",
  "\u0000",
  "\ud800",
  "a\r\nb",
  "💌",
  "x".repeat(5_000),
  [],
  [[]],
  {},
  { a: {} },
  "../../etc/passwd",
  "' OR 1=1 --",
  "ana@example.org",
  "__proto__",
  ["x", 1, null],
  "2026-11-21T00:00:00Z",
  "9999-12-31T23:59:59.999Z",
]

const value = (schema: Json, { below, chance, pick }: Dice, values: ReadonlyArray<string>, depth = 0): unknown => {
  const again = (inner: Json) => value(inner, { below, chance, pick }, values, depth + 1)
  if (chance(0.04)) return pick(JUNK)
  if (schema["$ref"] !== undefined)
    return again(document["components"].schemas[String(schema["$ref"]).split("/").at(-1) ?? ""])
  if (schema["anyOf"] !== undefined) return again(pick(schema["anyOf"]))
  if (schema["examples"]?.length > 0 && chance(0.6)) return pick(schema["examples"])
  if (schema["enum"] !== undefined) return pick(schema["enum"])
  if (chance(0.2)) return pick(values)
  switch (schema["type"]) {
    case "object": {
      const made: Record<string, unknown> = {}
      for (const [name, inner] of Object.entries<Json>(schema["properties"] ?? {}))
        if (schema["required"]?.includes(name) ? chance(0.97) : chance(0.4)) made[name] = again(inner)
      if (schema["additionalProperties"] !== undefined)
        for (let i = below(3); i > 0; i--)
          made[pick(["X-A", "From", "x y", "__proto__", "X-\u0000"])] = again(schema["additionalProperties"])
      return made
    }
    case "array":
      return Array.from({ length: pick([0, 1, 2, 3, schema["maxItems"] ?? 4]) }, () => again(schema["items"] ?? {}))
    case "integer":
    case "number":
      return below(2_000) - 10
    case "boolean":
      return chance(0.5)
    case "null":
      return null
    default:
      return pick([
        "ana@example.org",
        "Acme <hi@acme.test>",
        "acme.test",
        "https://example.org/",
        "aGk=",
        "text",
        "2026-12-01T10:00:00Z",
      ])
  }
}

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "300 seconds" })("fuzz", (it) => {
  // threat: invalid-input
  it.effect(
    `whatever is asked (seed ${SEED}), the answer is a documented one and never a 500`,
    function* () {
      const world = yield* HttpWorld
      const account = yield* world.account()
      const { id: key_id, secret: first } = yield* world.key(account)
      const made = (path: string, body: unknown) =>
        Effect.map(world.request("POST", path, { key: first, body }), ({ json }) => String(json.id))
      const values = [
        key_id,
        yield* made("/v1/domains", { name: "acme.test" }),
        yield* made("/v1/webhooks", { url: "https://example.org/", events: ["*"] }),
        yield* made("/v1/email/send", {
          from: "hi@acme.test",
          to: "ana@example.org",
          subject: "x",
          scheduled_at: new Date(Date.now() + 3_600_000).toISOString(),
        }),
        yield* made("/v1/suppressions", { email: "gone@example.org" }),
        "gone@example.org",
        "acme.test",
      ]
      const { chance, pick, ...rest } = dice(SEED)
      const random = { chance, pick, ...rest }
      let key = first
      let calls = 0
      const statuses: Record<number, number> = {}
      for (let round = 0; round < ROUNDS; round++)
        for (const operation of operations) {
          // Fuzzed calls revoke keys and use up rate windows.
          if (calls++ % CALLS_A_KEY === 0) {
            key = (yield* world.key(account)).secret
            yield* world.request("POST", "/v1/domains", { key, body: { name: "acme.test" } })
            yield* world.request("POST", "/v1/suppressions", { key, body: { email: "gone@example.org" } })
          }
          const call = request(operation, random, values)
          const answer = yield* world.request(operation.method, call.path, { key, ...call.options })
          statuses[answer.status] = (statuses[answer.status] ?? 0) + 1
          check(
            operation,
            answer,
            `seed ${SEED}, call ${calls}: ${operation.method} ${call.path} ${JSON.stringify(call.options).slice(0, 2_000)}`,
          )
        }
      // Few calls succeed, because most name something that is refused or does not exist.
      for (const [status, few] of Object.entries({ 200: 5, 201: 2, 400: 5, 404: 5, 422: 5 }))
        assert.isAbove(statuses[Number(status)] ?? 0, few, `too few answers of ${status}: ${JSON.stringify(statuses)}`)
    },
    PATIENCE_MS,
  )
})

const FITS: ReadonlyArray<readonly [part: string, id: RegExp]> = [
  ["/api-keys/", /^key_/u],
  ["/domains/", /^(?:dom_|acme)/u],
  ["/webhooks/", /^whk_/u],
  ["/email/", /^msg_/u],
  ["/suppressions/", /@/u],
]

const request = ({ path, spec }: Operation, random: Dice, values: ReadonlyArray<string>) => {
  const { chance, pick } = random
  const fitting = values.filter((each) => FITS.some(([part, id]) => path.includes(part) && id.test(each)))
  const text = () =>
    String(chance(0.7) ? pick(fitting.length > 0 ? fitting : values) : pick([...values, ...JUNK])).toWellFormed()
  const filled = path.replaceAll(/\{\w+\}/gu, () => encodeURIComponent(text()))
  const query = new URLSearchParams()
  const headers: Record<string, string> = {}
  for (const { in: location, name, schema } of (spec["parameters"] ?? []) as ReadonlyArray<Json>) {
    // Nothing happens during the test, so `wait` is left out.
    if (location === "query" && name !== "wait" && chance(0.4)) {
      const made = value(schema, random, values)
      for (const each of Array.isArray(made) ? made : [made]) query.append(name, String(each).toWellFormed())
    }
    if (location === "header" && chance(0.3)) headers[name] = pick(["a", "b", "order 7", "x".repeat(256)])
  }
  const body = spec["requestBody"]?.content["application/json"].schema
  const search = query.size === 0 ? "" : `?${query.toString()}`
  return {
    path: `${filled}${search}`,
    options: { headers, ...(body === undefined ? {} : { body: value(body, random, values) ?? null }) },
  }
}

const isError = Schema.is(ApiError.Body)

const check = ({ spec, status, success }: Operation, answer: Answer, what: string) => {
  assert.isBelow(answer.status, 500, `${what} → ${answer.text.slice(0, 500)}`)
  // A junk value that is empty or contains a slash makes another path, and fuzzed calls may have revoked the key.
  const documented = [...Object.keys(spec["responses"]), "401", "404"]
  assert.include(documented, String(answer.status), what)
  for (const name of ["x-request-id", "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"])
    assert.isNotNull(answer.headers.get(name), what)
  if (answer.status >= 400) return assert.isTrue(isError(answer.json), `${what} → ${answer.text.slice(0, 500)}`)
  assert.strictEqual(answer.status, status, what)
  const decoded = Schema.decodeUnknownExit(success)(answer.json)
  assert.isTrue(Exit.isSuccess(decoded), `${what} → ${answer.text.slice(0, 500)}`)
}
