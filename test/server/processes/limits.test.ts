import { Context, Effect, Layer } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as DatabaseClock from "../../support/DatabaseClock.ts"
import * as ServiceProcess from "../../support/world/ServiceProcess.ts"
import * as World from "../../support/world/World.ts"

/** Two processes on a database whose clock stands still, so that no minute ends during a count. */
class Nodes extends Context.Service<Nodes, readonly [ServiceProcess.ServiceProcess, ServiceProcess.ServiceProcess]>()(
  "test/Nodes",
) {
  static readonly layer = Layer.effect(
    Nodes,
    Effect.gen(function* () {
      const { url } = yield* Database.Fresh
      yield* DatabaseClock.freeze
      return yield* Effect.all([ServiceProcess.start(url), ServiceProcess.start(url)], { concurrency: 2 })
    }),
  )
}

const TwoNodes = Nodes.layer.pipe(Layer.provideMerge(World.layer))

const account = (node: ServiceProcess.ServiceProcess, key: string) => () => node.request("GET", "/v1/account", { key })
/** A request that is admitted and then refused, since only admission is counted. */
const empty = (node: ServiceProcess.ServiceProcess, key: string) => () =>
  node.request("POST", "/v1/email/send", { key, body: {} })

layer(TwoNodes, { excludeTestServices: true })("a rate limit over two processes", (it) => {
  for (const [name, limit, each, admitted, request, minutes] of [
    ["other requests", 120, 100, 200, account, ["12:00", "12:01"]],
    ["sends", 1_000, 520, 400, empty, ["12:02"]],
  ] as const) {
    it.effect(`admits exactly ${limit} ${name}, wherever they arrive, in ${minutes.length} minute(s)`, function* () {
      const [one, other] = yield* Nodes
      const { secret } = yield* World.key(yield* World.account())
      for (const minute of minutes) {
        yield* DatabaseClock.set(`2026-11-21T${minute}:30Z`)
        const halves = yield* Effect.promise(() =>
          Promise.all([
            ServiceProcess.sendMany(each, request(one, secret)),
            ServiceProcess.sendMany(each, request(other, secret)),
          ]),
        )
        const answers = halves.flat()
        assert.deepStrictEqual(ServiceProcess.countByStatus(answers), { [admitted]: limit, 429: 2 * each - limit })
        // Each remaining count of the window was returned once.
        const left = answers
          .filter(({ status }) => status === admitted)
          .map(({ headers }) => Number(headers.get("x-ratelimit-remaining")))
        assert.deepStrictEqual(
          left.sort((a, b) => a - b),
          Array.from({ length: limit }, (_, n) => n),
        )
        const refused = answers.filter(({ status }) => status === 429)
        assert.isTrue(refused.every(({ headers }) => headers.get("retry-after") === "30"))
        assert.isTrue(refused.every(({ json }) => json.error.reason === "request_rate"))
      }
    })
  }
})
