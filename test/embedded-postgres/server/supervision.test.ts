import * as Failure from "@waybill/embedded-postgres/system/Failure"
import * as Supervision from "@waybill/embedded-postgres/server/Supervision"
import { Effect, Logger } from "effect"
import { assert, describe, it } from "../../support/effectTest.ts"

const SERVER = { pid: 42 }

/** Runs a server that ends at once each time; returns what was logged, and the error in the end. */
const supervise = (restart: Effect.Effect<typeof SERVER, Failure.NotStarted>, log = "LOG: ready\nFATAL: killed\n") => {
  const said: Array<string> = []
  const logger = Logger.make(({ message }) => void said.push(String((message as ReadonlyArray<unknown>)[0])))
  return Supervision.keepRunning(SERVER, {
    ended: () => Effect.void,
    restart,
    logSince: () => Effect.succeed(log),
    maxRestarts: 2,
  }).pipe(
    Effect.map((error) => ({ error, said })),
    Effect.provide(Logger.layer([logger])),
  )
}

describe("the supervision of the embedded server", () => {
  it.live("gives up a server that ends again and again, with one line that says why", function* () {
    let restarts = 0
    const { error, said } = yield* supervise(
      Effect.sync(() => {
        restarts++
        return SERVER
      }),
    )
    assert.strictEqual(restarts, 2)
    assert.strictEqual(
      error.message,
      "the embedded Postgres (process 42) ended unexpectedly and could not be restarted: FATAL: killed",
    )
    assert.lengthOf(
      said.filter((line) => line.includes("is being restarted")),
      3,
    )
  })

  it.live("counts starts that fail too", function* () {
    const { error } = yield* supervise(
      Effect.fail(new Failure.NotStarted({ reason: "Postgres did not start.", detail: "one\nFATAL: broken\ntwo" })),
    )
    assert.include(error.message, "could not be restarted: FATAL: broken")
  })

  it.live("tries on while the disk is full", function* () {
    let tries = 0
    const full = new Failure.NotStarted({ reason: "", detail: "FATAL: No space left on device" })
    const { error } = yield* supervise(
      Effect.suspend(() => (++tries <= 3 ? Effect.fail(full) : Effect.succeed(SERVER))),
      "FATAL: killed",
    )
    assert.isAbove(tries, 3)
    assert.notInclude(error.message, "No space")
  })
})
