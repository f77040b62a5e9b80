import type { PgClient } from "@effect/sql-pg"
import { Effect, Exit, Fiber, Redacted, Scope } from "effect"
import { TestClock } from "effect/testing"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as TopCommand from "../../../apps/server/src/cli/commands/TopCommand.ts"
import { layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { freePort, runToEnd, WaybillCommand } from "../../support/process/service.ts"

const TIMEOUT = 60_000
const scope = Scope.makeUnsafe()
let data = ""
let env: Record<string, string> = {}
let service: WaybillCommand

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), "waybill-top-"))
  const [port, smtp] = [await freePort(), await freePort()]
  const { url } = await Effect.runPromise(Scope.provide(Database.freshDatabase, scope))
  env = { DATABASE_URL: Redacted.value(url), WAYBILL_DATA: data, PORT: `${port}`, SMTP_PORT: `${smtp}` }
  service = new WaybillCommand(["start"], env)
  await service.waitForOutput("curl ")
}, TIMEOUT)
afterAll(async () => {
  await service.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
  await rm(data, { recursive: true, force: true })
}, TIMEOUT)

layer(Database.layerFresh, { excludeTestServices: true })("on a screen", (it) => {
  it.effect("refreshes at the interval and restores the terminal", function* () {
    const written: Array<string> = []
    const screens = () => written.filter((text) => text.includes("Waybill"))
    const write = (text: string) => Effect.sync(() => void written.push(text))
    const turn = Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))
    const until = (count: number) => Effect.repeat(turn, { until: () => screens().length === count })
    // Connections use the real clock; only the interval uses the test's.
    const context = yield* Effect.context<PgClient.PgClient>()
    yield* Effect.gen(function* () {
      const watching = yield* Effect.forkChild(Effect.provideContext(TopCommand.watch(3, write), context))
      yield* until(1)
      assert.isTrue(written.join("").startsWith("\u001b[?1049h\u001b[?25l\u001b[H\u001b[JWaybill "))
      yield* turn
      yield* TestClock.adjust("2999 millis")
      yield* turn
      assert.lengthOf(screens(), 1)
      yield* TestClock.adjust("1 millis")
      yield* until(2)
      yield* Fiber.interrupt(watching)
      assert.strictEqual(written.at(-1), "\u001b[?25h\u001b[?1049l")
    }).pipe(Effect.provide(TestClock.layer()))
  })
})

describe("waybill top", () => {
  it("prints a snapshot as JSON beside a running service", { timeout: TIMEOUT }, async () => {
    const { code, output } = await runToEnd(["top", "--json"], env)
    assert.strictEqual(code, 0, output)
    const seen = JSON.parse(output) as Record<string, unknown>
    assert.strictEqual(seen["workers"], 1)
    assert.isAbove(Number(seen["position"]), 0)
    assert.isObject(seen["per_second"])
    assert.isArray(seen["queue"])
    assert.isArray(seen["followers"])
  })

  it("prints one look as text where there is no screen", { timeout: TIMEOUT }, async () => {
    const { code, output } = await runToEnd(["top"], env)
    assert.strictEqual(code, 0, output)
    assert.match(output, /^Waybill \d.*1 worker active .*log position \d+/u)
    assert.match(output, /^accepted +0\.0$/mu)
    for (const line of output.split("\n")) assert.isAtMost(line.length, 80, line)
    for (const word of ["delivery", "webhook", "oldest", "connections"]) assert.include(output, word)
    assert.notInclude(output, "\u001b")
  })

  it("refuses an interval that is none", { timeout: TIMEOUT }, async () => {
    for (const wrong of ["0", "3601"])
      assert.notStrictEqual((await runToEnd(["top", "--interval", wrong], env)).code, 0)
  })
})
