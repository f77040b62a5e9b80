import { Effect, Redacted, type Scope } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import * as fs from "node:fs/promises"
import { createConnection } from "node:net"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { faultProxy } from "./faultProxy.ts"
import { freePort } from "../process/service.ts"

/**
 * Path of PgBouncer on this machine (`apt-get install pgbouncer`), if it is installed; without it its tests are
 * skipped.
 */
export const BINARY = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin"]
  .map((folder) => join(folder, "pgbouncer"))
  .find((path) => existsSync(path))

/** User id of PgBouncer, which refuses to run as root. */
const NOBODY = 65_534

export interface Options {
  readonly mode: "session" | "transaction" | "statement"
  /** Startup parameters that PgBouncer drops instead of refusing. */
  readonly ignore?: ReadonlyArray<string>
  /** Settings of an operator, which override those of the test. */
  readonly written?: ReadonlyArray<string>
  readonly poolSize?: number
}

/** Starts a PgBouncer before a database, and returns the address through it. */
export const start = (
  url: Redacted.Redacted,
  { ignore = [], mode, poolSize = 40, written = [] }: Options,
): Effect.Effect<Redacted.Redacted, never, Scope.Scope> =>
  Effect.gen(function* () {
    // Only the server's own user may use its socket, so PgBouncer connects through a proxy.
    const server = new URL(Redacted.value((yield* faultProxy(url)).url))
    const folder = yield* Effect.acquireRelease(
      Effect.promise(() => fs.mkdtemp(join(tmpdir(), "waybill-bouncer-"))),
      (path) => Effect.promise(() => fs.rm(path, { recursive: true, force: true })),
    )
    const port = yield* Effect.promise(freePort)
    const user = decodeURIComponent(server.username)
    const name = server.pathname.slice(1)
    const config = [
      "[databases]",
      `${name} = host=127.0.0.1 port=${server.port}`,
      "[pgbouncer]",
      "listen_addr = 127.0.0.1",
      `listen_port = ${port}`,
      "unix_socket_dir =",
      "auth_type = trust",
      `auth_file = ${join(folder, "users")}`,
      `pool_mode = ${mode}`,
      `default_pool_size = ${poolSize}`,
      "max_client_conn = 200",
      ...(ignore.length === 0 ? [] : [`ignore_startup_parameters = ${ignore.join(",")}`]),
      ...written,
    ]
    yield* Effect.promise(async () => {
      await fs.writeFile(join(folder, "users"), `"${user}" "${decodeURIComponent(server.password)}"\n`)
      await fs.writeFile(join(folder, "ini"), `${config.join("\n")}\n`)
      await fs.chmod(folder, 0o755)
    })
    yield* Effect.acquireRelease(
      Effect.promise(async () => {
        const isRoot = process.getuid?.() === 0
        const child = spawn(BINARY ?? "pgbouncer", ["-q", join(folder, "ini")], {
          stdio: ["ignore", "ignore", "pipe"],
          ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}),
        })
        let output = ""
        child.stderr.on("data", (chunk) => (output += String(chunk)))
        const ended = once(child, "close")
        let isOver = false
        void ended.then(() => (isOver = true))
        while (!(await answers(port))) if (isOver) throw new Error(`pgbouncer ended:\n${output}`)
        return { child, ended }
      }),
      ({ child, ended }) =>
        Effect.promise(() => {
          child.kill("SIGKILL")
          return ended
        }),
    )
    server.port = String(port)
    return Redacted.make(server.href)
  })

const answers = async (port: number): Promise<boolean> => {
  const socket = createConnection({ host: "127.0.0.1", port })
  try {
    await once(socket, "connect")
    return true
  } catch {
    // PgBouncer opens its port within milliseconds.
    await new Promise((resolve) => setImmediate(resolve))
    return false
  } finally {
    socket.destroy()
  }
}
