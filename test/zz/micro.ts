import { Effect, Exit, Redacted, Scope } from "effect"
import * as fs from "node:fs/promises"
import * as net from "node:net"
import * as Cpu from "../bench/accept/cpu.ts"
import { tenant } from "../bench/accept/tenant.ts"
import { requests } from "../bench/accept/request.ts"
import * as Waybill from "../bench/accept/waybill.ts"
import * as Measure from "../bench/measure.ts"
const scope = Scope.makeUnsafe()
const postgres = await Effect.runPromise(Scope.provide(Measure.temporaryServer(), scope))
const home = await fs.mkdtemp("/tmp/waybill-accept-")
const url = await Measure.freshDatabase(postgres)
const keys = await tenant(url, 64)
const server = await Waybill.start(Redacted.value(url), home)
await Waybill.addDomain(server, keys[0]!)
const drive = async (make: (i: number) => () => Buffer, ms: number) => {
  let n = 0
  const end = performance.now() + ms
  const statuses = new Map<string, number>()
  await Promise.all(
    Array.from(
      { length: 64 },
      (_, i) =>
        new Promise<void>((resolve) => {
          const s = net.connect(server.port, "127.0.0.1")
          const next = make(i)
          s.setNoDelay(true)
          let buf = ""
          s.on("data", (d) => {
            buf += d.toString("latin1")
            const h = buf.indexOf("\r\n\r\n")
            if (h < 0) return
            const m = /content-length: (\d+)/i.exec(buf)
            const len = m ? Number(m[1]) : 0
            if (buf.length < h + 4 + len) return
            const st = buf.slice(9, 12)
            statuses.set(st, (statuses.get(st) ?? 0) + 1)
            buf = ""
            n++
            if (performance.now() > end) {
              s.destroy()
              resolve()
            } else s.write(next())
          })
          s.write(next())
        }),
    ),
  )
  return [n, [...statuses].join(" ")] as const
}
const get = (path: string, auth: boolean) => (i: number) => {
  const b = Buffer.from(`GET ${path} HTTP/1.1\r\nHost: x\r\n${auth ? `Authorization: Bearer ${keys[i]}\r\n` : ""}\r\n`)
  return () => b
}
const refused = (i: number) => {
  const r = requests(keys[i]!, i)
  return () => Buffer.from(r().toString("latin1").replace('"subject":"', '"subjecX":"'), "latin1")
}
const cases: any = {
  healthz: get("/healthz", false),
  "404 with key": get("/v1/nothing", true),
  refused,
  send: (i: number) => requests(keys[i]!, i),
}
for (const [name, make] of Object.entries(cases) as any) {
  await drive(make, 2500)
  const b = [Cpu.ofProcess(server.pid), Cpu.ofPostgres(postgres.pid), performance.now()]
  const [n, st] = await drive(make, 2500)
  console.log(
    name,
    st,
    Math.round((n * 1000) / (performance.now() - b[2]!)),
    "/s node",
    Math.round(((Cpu.ofProcess(server.pid) - b[0]!) * 1000) / n),
    "pg",
    Math.round(((Cpu.ofPostgres(postgres.pid) - b[1]!) * 1000) / n),
  )
}
await server.stop()
await Effect.runPromise(Scope.close(scope, Exit.void))
await fs.rm(home, { recursive: true })
