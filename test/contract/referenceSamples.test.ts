import { Api } from "@waybill/api/Api"
import { Effect } from "effect"
import { OpenApi } from "effect/http-api"
import { execFile } from "node:child_process"
import * as Clients from "../../apps/server/src/http/pages/reference/Clients.ts"
import { type Contract, groupsOf } from "../../apps/server/src/http/pages/reference/Contract.ts"
import { type SampleCall, sampleCall } from "../../apps/server/src/http/pages/reference/SampleCall.ts"
import { assert, describe, it, layer } from "../support/effectTest.ts"
import { HttpWorld, signUp } from "../support/world/HttpWorld.ts"

const contract = OpenApi.fromApi(Api) as unknown as Contract
const endpoints = groupsOf(contract).flatMap((group) => group.endpoints)

/** Samples in the order of the reference, those that delete last: the others need what is deleted. */
const CALLS = endpoints
  .map((endpoint) => ({ endpoint, call: sampleCall(contract, endpoint) }))
  .toSorted((one, other) => Number(one.call.method === "DELETE") - Number(other.call.method === "DELETE"))

/** Kinds of things that a sample makes, and to which the samples with an id of the same kind go instead. */
const MADE: ReadonlySet<string> = new Set(["clk", "key", "inb", "rte", "usr", "whd", "whk"])

/** Runs a sample as it is shown, and returns its status and its answer. A stream is read for a second. */
const run = (call: SampleCall, origin: string, key: string) =>
  Effect.callback<{ readonly status: number; readonly text: string }>((resume) => {
    const command = `${Clients.curl(call, origin)} -sS -w '\\n%{http_code}'${Clients.isStream(call) ? " -m 1" : ""}`
    const env = { ...process.env, WAYBILL_KEY: key, NO_PROXY: "*", no_proxy: "*" }
    execFile("bash", ["-c", command], { env }, (_, stdout, stderr) => {
      const at = stdout.lastIndexOf("\n")
      resume(Effect.succeed({ status: Number(stdout.slice(at + 1)), text: `${stdout.slice(0, at)}${stderr}` }))
    })
  })

describe("samples of the reference", () => {
  it("have a body of their own for each endpoint that takes one", () => {
    for (const { operation } of endpoints)
      if (operation.requestBody !== undefined)
        assert.isDefined(operation.requestBody.content["application/json"]?.example, operation.operationId)
  })
})

layer(HttpWorld.layer({ requestLog: true }), { excludeTestServices: true, timeout: "90 seconds" })(
  "samples of the reference on a new instance",
  (it) => {
    it.effect(
      "are accepted, or name what does not exist",
      function* () {
        const { key, keyWith, world } = yield* signUp({ domains: ["acme.test"] })
        const testKey = yield* keyWith({ mode: "test" })
        const problems: Array<string> = []
        const made = new Map<string, string>()
        for (const { call: shown, endpoint } of CALLS) {
          const parts = shown.parts.map((part) => made.get(String(part).split("_")[0] ?? "") ?? part)
          const call = { ...shown, parts }
          const needsTestKey = endpoint.operation.description?.includes("Needs a test key.") === true
          const { status, text } = yield* run(call, world.url, needsTestKey ? testKey : key)
          const [, id = "", kind = ""] = /^\{[^{]*"id":"(([a-z]+)_[0-9a-z]{26})"/u.exec(text) ?? []
          if (shown.method === "POST" && status < 300 && MADE.has(kind)) made.set(kind, id)
          const isAllowed =
            (status >= 200 && status < 300) ||
            (status === 404 && parts.length > 0 && parts.every((part, nth) => part === shown.parts[nth]))
          if (!isAllowed) problems.push(`${endpoint.operation.operationId}: ${status} ${text}`)
        }
        assert.deepStrictEqual(problems, [])
      },
      120_000,
    )
  },
)
