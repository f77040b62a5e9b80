import * as SourceCounts from "@waybill/store/sources/SourceCounts"
import { Effect, Redacted } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import * as SourceBudget from "../../../apps/server/src/sources/SourceBudget.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"

const PROGRAM = fileURLToPath(new URL("claimProcess.ts", import.meta.url))
const LIMIT = 1_000
const BLOCK = LIMIT / SourceBudget.BLOCK_SHARE
const TIMEOUT = 60_000
/** Longer than any number of mails. */
const NEVER = 0

/** Runs a process that takes mails, and returns how many it took. One that hangs after `most` mails is killed. */
const take = Effect.fnUntraced(function* (most: number) {
  const { url } = yield* Database.Fresh
  return yield* Effect.promise(async () => {
    const args = [PROGRAM, Redacted.value(url), String(LIMIT), String(most)]
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] })
    let lines = 0
    child.stdout.on("data", (chunk: Buffer) => {
      lines += chunk.toString().split("\n").length - 1
      if (lines === most) child.kill("SIGKILL")
    })
    await once(child, "close")
    return lines
  })
})

layer(Database.layerFresh, { excludeTestServices: true })("the mails of a day", (it) => {
  it.effect(
    "are taken exactly once by several processes, and a killed one wastes less than a block",
    function* () {
      // First, since the others would leave nothing.
      const killed = yield* take(BLOCK + 1)
      const others = yield* Effect.all([take(NEVER), take(NEVER)], { concurrency: "unbounded" })
      assert.strictEqual(killed, BLOCK + 1)
      const wasted = BLOCK - 1
      const taken = others.reduce((sum, one) => sum + one, killed)
      assert.strictEqual(taken, LIMIT - wasted)
      const [count] = yield* SourceCounts.ofDay(20_000)
      assert.deepInclude(count, { claimed: LIMIT, sent: LIMIT - wasted - killed })
    },
    TIMEOUT,
  )
})
