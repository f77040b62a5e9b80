import { Effect, Exit, Redacted, Scope } from "effect"
import * as fs from "node:fs/promises"
import * as Cpu from "../bench/accept/cpu.ts"
import * as Processes from "../bench/accept/processes.ts"
import { tenant } from "../bench/accept/tenant.ts"
import * as Waybill from "../bench/accept/waybill.ts"
import * as Measure from "../bench/measure.ts"
const scope = Scope.makeUnsafe()
const postgres = await Effect.runPromise(
  Scope.provide(Measure.temporaryServer(JSON.parse(process.env.PGSET ?? "{}")), scope),
)
const home = await fs.mkdtemp("/tmp/waybill-accept-")
const load = Processes.load()
const url = await Measure.freshDatabase(postgres)
const keys = await tenant(url, 64)
const loadPid = 0
const floor = process.env.FLOOR
const server = floor
  ? await Processes.start(floor, {
      DATABASE_URL: Redacted.value(url),
      NODE_OPTIONS: process.env.PROF ? "--cpu-prof --cpu-prof-dir=/tmp/prof2" : "",
    })
  : await (process.env.PROF
      ? Processes.start("service.ts", {
          DATABASE_URL: Redacted.value(url),
          WAYBILL_DATA: home,
          LOG_LEVEL: "Warn",
          NODE_OPTIONS: "--cpu-prof --cpu-prof-dir=/tmp/prof2",
        })
      : Waybill.start(Redacted.value(url), home))
if (!floor) await Waybill.addDomain(server, keys[0]!)
await load.run({ port: server.port, keys, millis: 5000 })
const pg = (await import("pg")).default
const c = new pg.Client(Redacted.value(url))
await c.connect()
const xact = async () =>
  Number((await c.query("select xact_commit x from pg_stat_database where datname=current_database()")).rows[0].x)
for (let i = 0; i < 3; i++) {
  const x0 = await xact()
  const b = [Cpu.ofProcess(server.pid), Cpu.ofPostgres(postgres.pid), performance.now()]
  const r = await load.run({ port: server.port, keys, millis: 3000 })
  const n = r.done
  const x1 = await xact()
  console.log(
    Math.round((n * 1000) / (performance.now() - b[2]!)),
    "/s node",
    Math.round(((Cpu.ofProcess(server.pid) - b[0]!) * 1000) / n),
    "pg",
    Math.round(((Cpu.ofPostgres(postgres.pid) - b[1]!) * 1000) / n),
    "xacts/msg",
    ((x1 - x0) / n).toFixed(3),
  )
}
await c.end()
await server.stop()
load.stop()
await Effect.runPromise(Scope.close(scope, Exit.void))
await fs.rm(home, { recursive: true })
