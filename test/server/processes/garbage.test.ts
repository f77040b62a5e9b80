import { Effect } from "effect"
import * as Processes from "../../bench/accept/Processes.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { SERVICE_FLAGS } from "../../support/process/serviceFlags.ts"
import * as ServiceProcess from "../../support/world/ServiceProcess.ts"
import * as World from "../../support/world/World.ts"

const CONNECTIONS = 64
/** Sends until the code is compiled, and until there were some ten scavenges. */
const [WARM_UP, MEASURED] = [2_500, 4_000]
const TURNS = 3
const AT_MOST_MILLIS = 120_000
/**
 * Share of new objects that scavenges may move to the old generation. It is 0.3 % without, and several percent with a Set that churns or a
 * generator function made for each send (docs/decisions/0065-pay-for-each-optimisation.md).
 */
const MOST_PROMOTED = 0.015

/** Bytes of new objects, and of those that scavenges moved to the old generation, by the lines of V8's trace. */
const scavenged = (trace: string) => {
  let [scavenges, allocated, promoted] = [0, 0, 0]
  for (const line of trace.split("\n").filter((each) => each.includes(" gc=s "))) {
    scavenges++
    allocated += Number(/ allocated=(\d+)/u.exec(line)?.[1])
    promoted += Number(/ promoted=(\d+)/u.exec(line)?.[1])
  }
  return { scavenges, promoted: promoted / allocated }
}

layer(World.layer, { excludeTestServices: true, timeout: "120 seconds" })("the garbage of sends", (it) => {
  it.effect(
    "dies young",
    function* () {
      const { url } = yield* Database.Fresh
      const service = yield* ServiceProcess.startApi(url, [...SERVICE_FLAGS, "--trace-gc-nvp"])
      const account = yield* World.account({ plan: "business" })
      const keys = yield* Effect.forEach(Array.from({ length: CONNECTIONS }), () => World.key(account))
      const secrets = keys.map(({ secret }) => secret)
      const added = yield* Effect.promise(() =>
        service.request("POST", "/v1/domains", { key: secrets[0] ?? "", body: { name: "acme.test" } }),
      )
      assert.strictEqual(added.status, 201)
      const load = yield* Effect.acquireRelease(Effect.sync(Processes.load), ({ stop }) => Effect.sync(stop))
      const send = (requests: number) =>
        Effect.promise(() =>
          load.run({ port: Number(new URL(service.url).port), keys: secrets, millis: AT_MOST_MILLIS, requests }),
        )
      yield* send(WARM_UP)
      // On a busy machine the code is compiled later. What lives on does so in each turn.
      let least = Number.POSITIVE_INFINITY
      for (let turn = 0; turn < TURNS && least >= MOST_PROMOTED; turn++) {
        const before = service.output().length
        assert.strictEqual((yield* send(MEASURED)).done, MEASURED)
        const { promoted, scavenges } = scavenged(service.output().slice(before))
        assert.isAbove(scavenges, 5)
        least = Math.min(least, promoted)
      }
      assert.isBelow(least, MOST_PROMOTED)
    },
    { timeout: 5 * AT_MOST_MILLIS },
  )
})
