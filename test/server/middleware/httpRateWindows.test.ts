import { Api } from "@waybill/api/Api"
import { Bucket } from "@waybill/api/middleware/Authorization"
import { Context } from "effect"
import { HttpApi } from "effect/http-api"
import { assert, test } from "vitest"
import * as RequestTarget from "../../../apps/server/src/requests/RequestTarget.ts"

test("a request counts in the window that its endpoint names", () => {
  const windows = new Map<string, string>()
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => {
      const named = Context.get(endpoint.annotations, Bucket)
      assert.strictEqual(
        RequestTarget.bucketOf(endpoint.method, endpoint.path),
        named,
        `${endpoint.method} ${endpoint.path}`,
      )
      windows.set(`${endpoint.method} ${endpoint.path}`, named)
    },
  })
  assert.deepStrictEqual(
    [...windows].filter(([, bucket]) => bucket !== "other"),
    [
      ["POST /v1/email/send", "send"],
      ["POST /v1/email/send/batch", "send"],
      ["GET /v1/email/logs", "logs"],
      ["POST /v1/inbound/:id/reply", "send"],
      ["POST /v1/inbound/:id/forward", "send"],
    ],
  )
})

test("a search of the sandbox counts like one of the log, however its name is written", () => {
  const bucketOf = (query: string) => RequestTarget.bucketOf("GET", "/v1/sandbox/messages", query)
  assert.deepStrictEqual(["q=ana", "limit=1&%71=ana", "", "to=q"].map(bucketOf), ["logs", "logs", "other", "other"])
})
