import * as Readiness from "@waybill/store/operations/Readiness"
import { Effect, Redacted } from "effect"
import { spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { mkdtempSync, openSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { freePort } from "../../support/process/service.ts"

const MAIN = join(import.meta.dirname, "../../../bin/main.mjs")

/** A first start whose output goes to a file. */
const start = Effect.gen(function* () {
  const { url } = yield* Database.Fresh
  const folder = mkdtempSync(join(tmpdir(), "waybill-ready-"))
  const file = join(folder, "said")
  const ports = yield* Effect.promise(() => Promise.all([freePort(), freePort(), freePort()]))
  const [port, smtpPort, metricsPort] = ports.map(String)
  const child = spawn(process.execPath, [MAIN, "start"], {
    env: {
      ...process.env,
      BASE_URL: "",
      DATABASE_URL: Redacted.value(url),
      WAYBILL_DATA: folder,
      WAYBILL_INSTANCE_KEY: randomBytes(32).toString("base64"),
      PORT: port,
      SMTP_PORT: smtpPort,
      METRICS_PORT: metricsPort,
    },
    stdio: ["ignore", openSync(file, "w"), "inherit"],
  })
  yield* Effect.addFinalizer(() =>
    Effect.promise(async () => {
      child.kill("SIGKILL")
      await once(child, "close")
      rmSync(folder, { recursive: true, force: true })
    }),
  )
  return { ports: [port, metricsPort], said: () => readFileSync(file, "utf8") }
})

layer(Database.layerFresh, { excludeTestServices: true })("a first start", (it) => {
  it.effect("is ready once its secrets are printed, on every health check", function* () {
    const { ports, said } = yield* start
    const firstWords = (port: string | undefined) =>
      Effect.promise(async () => {
        for (;;) {
          const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined)
          if (answer?.ok === true) return said()
          await answer?.text()
        }
      })
    for (const words of yield* Effect.forEach(ports, firstWords, { concurrency: "unbounded" }))
      assert.match(words, /API key {4}wb_/u)
  })

  it.effect("reports what it waits for until then", function* () {
    const before = yield* Effect.provideService(Readiness.check, Readiness.Started, () => false)
    assert.deepStrictEqual(before.problems, ["the start is not complete"])
    assert.deepStrictEqual(yield* Readiness.check, { problems: [], cells_down: [] })
  })
})
