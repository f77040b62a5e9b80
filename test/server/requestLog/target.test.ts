import { RequestLogWriter } from "@waybill/store/requests/RequestLogWriter"
import { Effect, Metric } from "effect"
import * as http from "node:http"
import { assert, layer } from "../../support/effectTest.ts"
import { HttpWorld, signUp } from "../../support/world/HttpWorld.ts"

/** Sends a request with a target that `fetch` would normalise, and returns the status of its answer. */
const send = (agent: http.Agent, url: string, target: string, key: string) =>
  Effect.promise(async () => {
    const { hostname, port } = new URL(url)
    return new Promise<number | undefined>((resolve, reject) => {
      const headers = { authorization: `Bearer ${key}` }
      const request = http.request({ host: hostname, port, path: target, headers, agent }, (response) => {
        response.resume()
        response.on("end", () => resolve(response.statusCode))
      })
      request.on("error", reject)
      request.end()
    })
  })

/** Returns how many requests of the API the metrics have counted. */
const counted = Effect.map(Metric.snapshot, (all) =>
  all.reduce(
    (sum, each) =>
      each.type === "Histogram" && each.id === "waybill_http_request_seconds" ? sum + Number(each.state.count) : sum,
    0,
  ),
)

layer(HttpWorld.layer({ requestLog: true }), { excludeTestServices: true })("the target of a request", (it) => {
  // threat: request-log
  it.effect("is routed, counted and logged in one spelling, however it was sent", function* () {
    const { key, world } = yield* signUp()
    const agent = new http.Agent({ keepAlive: true })
    yield* Effect.addFinalizer(() => Effect.sync(() => agent.destroy()))
    const cases: ReadonlyArray<readonly [target: string, status: number, path: string | undefined, query?: string]> = [
      ["/v1/account", 200, "/v1/account"],
      ["http://x.test/healthz/../v1/account", 200, "/v1/account"],
      ["http://x.test/healthz/%2e%2E/v1/account", 200, "/v1/account"],
      ["HTTP://x.test/v1/./account", 200, "/v1/account"],
      [String.raw`http://x.test/healthz\..\v1/account`, 200, "/v1/account"],
      ["http://[/v1/account", 200, "/v1/account"],
      ["http://x.test/v1/../healthz", 200, undefined],
      ["/healthz/../v1/account", 404, undefined],
      ["/v1/../healthz", 404, "/v1/../healthz"],
      ["//v1/account", 404, undefined],
      ["/v1//account", 404, "/v1//account"],
      ["/v1/account/", 404, "/v1/account/"],
      ["/v1/%61ccount", 200, "/v1/account"],
      ["/v1/%2561ccount", 404, "/v1/%2561ccount"],
      ["/v1/a%zzccount", 404, "/v1/a%zzccount"],
      ["/v1/account%2F", 404, "/v1/account%2F"],
      ["/v1/account#?token=hunter2", 200, "/v1/account"],
      ["/v1/account;token=hunter2", 400, "/v1/account", "token=[masked]"],
      ["/v1/account?a=1?b=2", 400, "/v1/account", "a=[masked]"],
      ["/v1/email/logs;limit=1", 200, "/v1/email/logs", "limit=1"],
    ]
    for (const [target, status, path, query = ""] of cases) {
      const before = yield* counted
      const answered = yield* send(agent, world.url, target, key)
      yield* (yield* RequestLogWriter)?.flush ?? Effect.void
      const logged = yield* Effect.orDie(
        world.sql<{ readonly path: string; readonly query: string; readonly status: number }>`
        DELETE FROM request_log RETURNING path, query, status`,
      )
      const expected = path === undefined ? [] : [{ path, query, status }]
      assert.deepStrictEqual([answered, logged], [status, expected], target)
      assert.strictEqual((yield* counted) - before, path === undefined ? 0 : 1, target)
    }
  })
})
