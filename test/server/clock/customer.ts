import { Effect, Exit, Layer, Scope } from "effect"
import { advanceTestClocks } from "../../../apps/server/src/worker/periodic/advanceTestClocks.ts"
import * as Transports from "../../../apps/server/src/worker/delivery/Transports.ts"
import * as WebhookPipeline from "../../../apps/server/src/worker/webhooks/WebhookPipeline.ts"
import * as Worker from "../../../apps/server/src/boot/service/Worker.ts"
import { dnsZones } from "../../support/mail/dnsZones.ts"
import * as Database from "../../support/postgres/Database.ts"
import { LINKS, LOOPBACK, RECORDS } from "../../support/web/Webhooks.ts"
import { HttpWorld, signUp } from "../../support/world/HttpWorld.ts"
import * as World from "../../support/world/World.ts"

/** Time that each clock shows first. */
export const BEGIN = "2030-01-01T00:00:00.000Z"
export const EMAIL = {
  from: "Shop <hi@shop.example>",
  to: "ana@example.org",
  subject: "Your receipt",
  text: "Thank you.",
}

/** All background work that test clocks need. Ends with its scope, as a killed process does for others. */
export const worker = Effect.gen(function* () {
  const { url } = yield* Database.Fresh
  const tasks = Effect.gen(function* () {
    const drain_webhooks = yield* WebhookPipeline.make({ allowedNetworks: LOOPBACK, records: RECORDS, links: LINKS })
    return { drain_webhooks, advance_test_clocks: yield* advanceTestClocks() }
  })
  const layers = Worker.layer({
    url,
    delivery: { returnPath: World.RETURN_PATH, stopWithin: "100 millis" },
    tasks,
  }).pipe(Layer.provide([Transports.Transports.layer<never, never>("capture", {}), World.delivering, dnsZones({})]))
  const scope = yield* Scope.fork(yield* Effect.scope)
  yield* Layer.buildWithScope(layers, scope)
  return Scope.close(scope, Exit.void)
})

/** An account with a live key, a test key and a test clock. */
export const customer = Effect.gen(function* () {
  const { account, call, keyWith, log, world } = yield* signUp()
  const test = yield* keyWith({ mode: "test", scopes: ["email:send", "email:logs:read", "admin"] })
  const callTest = (method: string, path: string, body?: unknown, headers = {}) =>
    world.request(method, path, { key: test, body, headers })
  const makeClock = Effect.map(callTest("POST", "/v1/test/clocks", { now: BEGIN }), ({ json }) => json.id as string)
  const clock = yield* makeClock
  const look = (of: string) => Effect.delay(callTest("GET", `/v1/test/clocks/${of}`), "500 millis")
  return {
    account,
    call,
    callTest,
    clock,
    keyWith,
    log,
    makeClock,
    world,
    /** Advances a clock until all is done that becomes due. A busy machine takes longer than the answer waits. */
    advance: (target: object, of = clock) =>
      Effect.flatMap(callTest("POST", `/v1/test/clocks/${of}/advance`, target), (answer) =>
        answer.json?.status === "advancing"
          ? World.until(look(of), ({ json }) => json?.status === "ready")
          : Effect.succeed(answer),
      ),
    /** Sends a message on the clock and returns its id. */
    send: (change: object = {}, of = clock) =>
      Effect.map(
        callTest("POST", "/v1/email/send", { ...EMAIL, headers: { "X-Waybill-Test-Clock": of }, ...change }),
        ({ json }) => json.id as string,
      ),
    /** Times and types of a message's events. */
    timeline: (id: string) =>
      // None while a rate limit refuses the request.
      Effect.map(callTest("GET", `/v1/email/logs/${id}/events`), ({ json }): ReadonlyArray<string> =>
        (json.data ?? []).map(
          ({ occurred_at, type }: { occurred_at: string; type: string }) => `${occurred_at} ${type}`,
        ),
      ),
  }
})

/** Number of leased rows of the outbox. */
export const leases = Effect.gen(function* () {
  const { sql } = yield* HttpWorld
  const [row] = yield* Effect.orDie(sql<{ readonly leased: number }>`
    SELECT count(*)::int AS leased FROM outbox WHERE lease_token IS NOT NULL`)
  return row?.leased
})
