// npm run bench -- memory: memory of the service at rest and under load, beside an idle Node process. Linux only.
import { Effect, Exit, Redacted, Scope } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"
import * as Processes from "./accept/Processes.ts"
import { tenant } from "./accept/tenant.ts"
import * as Waybill from "./accept/Waybill.ts"
import * as Measure from "./report/Measure.ts"
import * as TemporaryServer from "./report/TemporaryServer.ts"

const CONNECTIONS = 32
/** Time until caches and compiled code have their final size. */
const WARM_UP_MILLIS = 6_000
const STRETCH_MILLIS = 5_000
const STRETCHES = 5
const KIBIBYTES = 1024

const residentMebibytes = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB$/mu.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / KIBIBYTES

/** Memory of a Node process that has just started. */
const bareNode = async (): Promise<number> => {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1e6); console.log()"], { stdio: "pipe" })
  await once(child.stdout, "data")
  const mebibytes = residentMebibytes(child.pid ?? 0)
  child.kill("SIGKILL")
  return mebibytes
}

const scope = Scope.makeUnsafe()
const home = await fs.mkdtemp(path.join(os.tmpdir(), "waybill-memory-"))
const load = Processes.load()
try {
  const postgres = await Effect.runPromise(Scope.provide(TemporaryServer.temporaryServer(), scope))
  const url = await TemporaryServer.freshDatabase(postgres)
  const keys = await tenant(url, CONNECTIONS)
  const environment = await TemporaryServer.environment(postgres)
  const service = await Waybill.startBundled(Redacted.value(url), home, ["api"])
  try {
    await Waybill.addDomain(service, keys[0] ?? "")
    const rest = residentMebibytes(service.pid)
    const run = (millis: number) => load.run({ port: service.port, keys, millis })
    let requests = (await run(WARM_UP_MILLIS)).done
    const stretches = [{ requests, mebibytes: residentMebibytes(service.pid) }]
    for (let nth = 0; nth < STRETCHES; nth++) {
      requests += (await run(STRETCH_MILLIS)).done
      stretches.push({ requests, mebibytes: residentMebibytes(service.pid) })
    }
    const bare = await bareNode()
    const [first, last] = [stretches[0]?.mebibytes ?? Number.NaN, stretches.at(-1)?.mebibytes ?? Number.NaN]
    const findings: ReadonlyArray<Measure.Finding> = [
      { what: "an API node at rest", measured: Measure.once(rest), unit: "MiB" },
      { what: "the same against a Node that does nothing", measured: Measure.once(rest / bare), unit: "times" },
      {
        what: "an API node under load",
        measured: Measure.spread(stretches.map(({ mebibytes }) => mebibytes)),
        unit: "MiB",
        atMost: 300,
      },
      {
        what: `after ${requests.toLocaleString("en-US")} sends against the first ${(stretches[0]?.requests ?? 0).toLocaleString("en-US")}`,
        measured: Measure.once(last / first),
        unit: "times",
      },
    ]
    Measure.answer(
      { environment, connections: CONNECTIONS, bare_mebibytes: bare, rest_mebibytes: rest, stretches },
      [
        `Resident memory of a node with the role api, ${CONNECTIONS} connections that send.`,
        TemporaryServer.describe(environment),
        "",
        Measure.findingsTable(findings),
      ].join("\n"),
      findings,
    )
  } finally {
    await service.stop()
  }
} finally {
  load.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
  await fs.rm(home, { recursive: true, force: true })
}
