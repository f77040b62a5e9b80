import { CurrentCell } from "@waybill/store/routing/CurrentCell"
import * as Checkpoints from "@waybill/store/transparency/Checkpoints"
import * as LogKeys from "@waybill/store/transparency/LogKeys"
import * as LogTree from "@waybill/store/transparency/LogTree"
import { Effect, Layer, Redacted } from "effect"
import { spawnSync } from "node:child_process"
import * as fs from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, layer } from "../../support/effectTest.ts"
import { memoryFolder } from "../../support/memoryFolder.ts"
import { NOWHERE } from "../../support/nowhere.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as CommandLine from "../../support/process/CommandLine.ts"
import { hoursAfterMiddle, MIDDLE, StandingClock } from "../../support/WallClock.ts"
import { HttpWorld, LOG_URL, signUp } from "../../support/world/HttpWorld.ts"
import { buildLog } from "../../support/world/logTree.ts"
import { INSTANCE_KEY } from "../../support/world/World.ts"

const VERIFY = fileURLToPath(new URL("../../../packages/verify/src/main.ts", import.meta.url))

const Service = HttpWorld.layer().pipe(Layer.provideMerge(StandingClock.layer(MIDDLE)))

layer(Service, { excludeTestServices: true, timeout: "120 seconds" })("a key of the log that was rotated", (it) => {
  it.effect("proves what came while it signed, and nothing later", function* () {
    const { call, send, world } = yield* signUp({ domains: ["acme.test"] })
    const { url } = yield* Database.Fresh
    const folder = yield* Effect.acquireRelease(
      Effect.promise(() => memoryFolder("ended-key")),
      (folder) => Effect.promise(() => fs.rm(folder, { recursive: true, force: true })),
    )
    const receiptOf = (id: string) =>
      Effect.map(call("GET", `/v1/email/${id}/receipt`), ({ status, text }) => {
        assert.strictEqual(status, 200, text)
        return text
      })
    const check = (receipt: string) =>
      Effect.promise(async () => {
        await fs.writeFile(join(folder, "receipt.json"), receipt)
        const args = [VERIFY, join(folder, "receipt.json"), "--key", join(folder, "waybill-log.json")]
        const { status, stderr, stdout } = spawnSync(process.execPath, args, { encoding: "utf8" })
        return { code: status, output: stdout + stderr }
      })

    const first = yield* send({ scheduled_at: hoursAfterMiddle(24) })
    yield* buildLog
    const before = yield* receiptOf(first)
    // A process that reaches the database of the keys no more goes on with those that it has read.
    const former = yield* yield* LogKeys.makeSigners
    const env = { WAYBILL_DATA: NOWHERE, DATABASE_URL: Redacted.value(url), WAYBILL_INSTANCE_KEY: INSTANCE_KEY }
    const rotated = yield* CommandLine.typeWith(env, "log", "rotate-key", "--overlap", "30", "--json")
    assert.strictEqual(CommandLine.codeOf(rotated.exit), 0, rotated.errors)
    const until = hoursAfterMiddle(0.5)
    assert.strictEqual(JSON.parse(rotated.output).former_key_ends_at, until)

    yield* (yield* StandingClock).set(hoursAfterMiddle(1))
    const later = yield* send({ scheduled_at: hoursAfterMiddle(24) })
    yield* Effect.repeat(LogTree.step, { until: ({ events, isFull }) => !isFull && events === 0 })
    yield* Checkpoints.sign(Checkpoints.originOf(LOG_URL, yield* CurrentCell), former)
    const { json: log, text } = yield* world.request("GET", "/.well-known/waybill-log.json")
    yield* Effect.promise(() => fs.writeFile(join(folder, "waybill-log.json"), text))
    const [ended] = log.former_keys
    assert.strictEqual(ended.until, until)
    assert.notInclude(log.keys, ended.key)

    const refused = yield* receiptOf(later)
    assert.deepStrictEqual(JSON.parse(refused).keys, [ended.key])
    const { code, output } = yield* check(refused)
    assert.strictEqual(code, 1, output)
    assert.include(output, `FAILED  The log has signed. Its key signed until ${until}, and there is a later event.`)
    assert.include(output, "ok      Every signature is valid.")
    assert.strictEqual((yield* check(before)).code, 0)

    yield* buildLog
    const valid = yield* receiptOf(later)
    assert.deepStrictEqual(JSON.parse(valid).keys, log.keys)
    assert.strictEqual((yield* check(valid)).code, 0)
  })
})
