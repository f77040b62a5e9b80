import { Effect, Fiber } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import * as WebhookReceiver from "../../support/web/WebhookReceiver.ts"
import { HttpWorld, signUp } from "../../support/world/HttpWorld.ts"
import { until } from "../../support/world/World.ts"

const MIB = 1024 * 1024
const BODIES = { total_bytes: 6 * MIB, holder_bytes: 4 * MIB }
const ANSWERS = { total_bytes: 48 * MIB, holder_bytes: 32 * MIB }
const FILE_BYTES = 900 * 1024
/** Requests whose first file fits into the budget of their account, in base64. */
const FITTING = 3
const TRIES = 20

const world = HttpWorld.layer({
  budgets: { bodies: BODIES, answers: ANSWERS },
  attachmentNetworks: ["127.0.0.0/8"],
  zones: { "files.test": { A: ["127.0.0.1"] } },
})

layer(world, { excludeTestServices: true, timeout: "90 seconds" })("files that are fetched for requests", (it) => {
  // threat: fetched-files
  it.effect("count in the memory of their account while the others are awaited", function* () {
    const { key, world } = yield* signUp({ domains: ["acme.test"] })
    const { promise: isGone, resolve: goAway } = Promise.withResolvers<void>()
    const { calls, port } = yield* WebhookReceiver.listen({
      answer: ({ path }) =>
        path === "/large" ? { status: 200, body: "x".repeat(FILE_BYTES) } : isGone.then(() => ({ status: 404 })),
    })
    const url = (path: string) => ({ path: `http://files.test:${port}${path}`, filename: "a.bin" })
    const send = (...paths: ReadonlyArray<string>) =>
      world.request("POST", "/compat/resend/emails", {
        key,
        body: {
          from: "hi@acme.test",
          to: "ana@example.org",
          subject: "x",
          text: "x",
          attachments: paths.map(url),
        },
      })
    const waiting = yield* Effect.forEach(Array.from({ length: FITTING }), () =>
      Effect.forkChild(send("/large", "/slow")),
    )
    const slow = Effect.sync(() => calls.filter(({ path }) => path === "/slow").length)
    yield* until(slow, (count) => count === FITTING)
    // Slow files leave one of the account's places, and the memory of the account is held by the files that came.
    let answer = yield* send("/large")
    for (let tries = 1; answer.status === 200 && tries < TRIES; tries++) answer = yield* send("/large")
    assert.deepStrictEqual([answer.status, answer.json.name], [503, "application_error"])
    assert.isTrue(waiting.every((fiber) => fiber.pollUnsafe() === undefined))
    goAway()
    yield* Effect.forEach(waiting, Fiber.await)
    assert.strictEqual((yield* send("/large")).status, 200)
  })
})
