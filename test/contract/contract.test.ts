import { Api } from "@waybill/api/Api"
import { OpenApi } from "effect/http-api"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, describe, test } from "vitest"
import { compactJson } from "./compactJson.ts"
import { compare, type Json } from "./compatibility.ts"

const FILE = fileURLToPath(new URL("openapi.json", import.meta.url))
const served = JSON.parse(JSON.stringify(OpenApi.fromApi(Api))) as Json

// WAYBILL_UPDATE_CONTRACT=1 npm test -- test/contract writes the served contract, which is a promise to clients.
if (process.env["WAYBILL_UPDATE_CONTRACT"] === "1" || !existsSync(FILE)) writeFileSync(FILE, `${compactJson(served)}\n`)
const committed = JSON.parse(readFileSync(FILE, "utf8")) as Json

/** Returns the served contract with one change. */
const changed = (change: (document: any) => void): Json => {
  const copy = structuredClone(served)
  change(copy)
  return copy
}

describe("contract", () => {
  test("the served contract is compatible with the committed one", () => {
    const { additions, breaks } = compare(committed, served)
    assert.deepStrictEqual(breaks, [], "a breaking change belongs in /v2")
    if (additions.length > 0) console.info(`new in the contract:\n  ${additions.join("\n  ")}`)
  })

  const send = (document: any) => document.paths["/v1/email/send"].post
  const message = (document: any) => document.components.schemas.EmailMessage
  const BREAKS: ReadonlyArray<readonly [what: string, change: (document: any) => void, difference: string]> = [
    ["a path is removed", (d) => delete d.paths["/v1/account"], "GET /v1/account is gone"],
    ["a method is removed", (d) => delete d.paths["/v1/domains"].post, "POST /v1/domains is gone"],
    ["a status is removed", (d) => delete send(d).responses["422"], "POST /v1/email/send: the status 422 is gone"],
    [
      "a header is removed",
      (d) => delete send(d).responses["200"].headers["X-Request-Id"],
      "POST /v1/email/send 200: the header X-Request-Id is gone",
    ],
    [
      "a field of a response is removed",
      (d) => delete d.components.schemas.Acknowledgement.properties.created_at,
      "POST /v1/email/send 200.created_at is gone",
    ],
    [
      "a field of a response may be missing",
      (d) => (d.components.schemas.Acknowledgement.required = ["id", "status"]),
      "POST /v1/email/send 200.created_at may be missing now",
    ],
    [
      "a field of a response may be null",
      (d) => (d.components.schemas.Acknowledgement.properties.id = { anyOf: [{ type: "string" }, { type: "null" }] }),
      "POST /v1/email/send 200.id: null is a new possibility",
    ],
    [
      "a field of a request is removed",
      (d) => delete message(d).properties.tags,
      "POST /v1/email/send body.tags is gone",
    ],
    [
      "a field of a request becomes required",
      (d) => message(d).required.push("html"),
      "POST /v1/email/send body.html became required",
    ],
    [
      "a required field of a request is new",
      (d) => {
        message(d).properties.color = { type: "string" }
        message(d).required.push("color")
      },
      "POST /v1/email/send body.color is new and required",
    ],
    [
      "a request accepts one type less",
      (d) => (message(d).properties.to = { type: "array", items: { type: "string" } }),
      "POST /v1/email/send body.to: string is not possible any more",
    ],
    [
      "an enum is narrowed",
      (d) => (d.components.schemas.Scope.enum = d.components.schemas.Scope.enum.slice(1)),
      "POST /v1/api-keys body.scopes[]: the value email:send is gone",
    ],
    [
      "a limit is lowered",
      (d) => (message(d).properties.subject.maxLength = 10),
      "POST /v1/email/send body.subject: maxLength is 10 now",
    ],
    [
      "a parameter is removed",
      (d) => (d.paths["/v1/email/logs"].get.parameters = []),
      "GET /v1/email/logs: the parameter query status is gone",
    ],
    [
      "a parameter is new and required",
      (d) => d.paths["/v1/account"].get.parameters.push({ name: "x", in: "query", required: true, schema: {} }),
      "GET /v1/account: the parameter query x is new and required",
    ],
  ]
  for (const [what, change, difference] of BREAKS)
    test(`compatibility is broken when ${what}`, () => {
      assert.include(compare(served, changed(change)).breaks, difference)
    })

  test("compatibility is broken when unknown fields of a request are refused", () => {
    const before = changed((d) => delete message(d).additionalProperties)
    assert.include(compare(before, served).breaks, "POST /v1/email/send body: unknown fields are refused now")
  })

  const ADDITIONS: ReadonlyArray<readonly [what: string, change: (document: any) => void, difference: string]> = [
    ["a path is new", (d) => (d.paths["/v1/weather"] = { get: { responses: {} } }), "GET /v1/weather is new"],
    [
      "an optional field of a request is new",
      (d) => (message(d).properties.color = { type: "string" }),
      "POST /v1/email/send body.color is new",
    ],
    [
      "a field of a response is new",
      (d) => (d.components.schemas.Acknowledgement.properties.color = { type: "string" }),
      "POST /v1/email/send 200.color is new",
    ],
    [
      "a value is new",
      (d) => d.components.schemas.EmailStatus.enum.push("lost"),
      "GET /v1/email/logs 200.data[].status: the value lost is new",
    ],
    ["a limit is raised", (d) => (message(d).properties.subject.maxLength = 2_000), ""],
    [
      "a parameter is new",
      (d) => d.paths["/v1/account"].get.parameters.push({ name: "x", in: "query", schema: {} }),
      "GET /v1/account: the parameter query x is new",
    ],
  ]
  for (const [what, change, difference] of ADDITIONS)
    test(`compatibility is kept when ${what}`, () => {
      const { additions, breaks } = compare(served, changed(change))
      assert.deepStrictEqual(breaks, [])
      if (difference !== "") assert.include(additions, difference)
    })

  test("each schema has one name, for code generators", () => {
    const { schemas } = served["components"] as { readonly schemas: object }
    // An annotation on a field's schema creates a second schema.
    assert.deepStrictEqual(
      Object.keys(schemas).filter((name) => /_\d+$/u.test(name)),
      [],
    )
  })

  test("every operation has a summary, a description, a scope and all its statuses", () => {
    for (const [path, operations] of Object.entries(served["paths"] as Record<string, Record<string, any>>))
      for (const [method, operation] of Object.entries(operations)) {
        const where = `${method} ${path}`
        assert.isString(operation.summary, where)
        assert.isString(operation.description, where)
        if (!path.startsWith("/v1/")) continue
        assert.deepStrictEqual(operation.security, [{ api_key: [] }], where)
        assert.match(operation.description, /Scope: `/u, where)
        const statuses = Object.keys(operation.responses)
        for (const status of ["400", "401", "403", "429", "500"]) assert.include(statuses, status, where)
        const mayBeMissing = path.includes("{") || path.startsWith("/v1/sandbox/")
        assert.strictEqual(statuses.includes("404"), mayBeMissing, where)
        for (const response of Object.values(operation.responses as Record<string, any>))
          assert.includeMembers(
            Object.keys(response.headers),
            ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Id"],
            where,
          )
        assert.include(Object.keys(operation.responses["429"].headers), "Retry-After", where)
        if (method === "post")
          assert.include(
            operation.parameters.map((each: { name: string }) => each.name),
            "Idempotency-Key",
            where,
          )
      }
  })
})
