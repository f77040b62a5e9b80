import * as EmbeddedPostgres from "@waybill/embedded-postgres/server/EmbeddedPostgres"
import * as Settings from "@waybill/embedded-postgres/server/Settings"
import * as Migrations from "@waybill/store/database/Migrations"
import { Effect, Redacted, type Scope } from "effect"
import { randomBytes } from "node:crypto"
import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"
import pg from "pg"
import { onDatabase } from "../../support/postgres/databaseUrl.ts"

/** Starts a server for this run. Unlike the server of the tests it syncs every commit to disk, as in production. */
export const temporaryServer = (
  settings: Readonly<Record<string, string>> = {},
): Effect.Effect<EmbeddedPostgres.Running, unknown, Scope.Scope> =>
  Effect.gen(function* () {
    const folder = yield* Effect.promise(() => fs.mkdtemp(path.join(os.tmpdir(), "waybill-bench-")))
    // As root the server runs as another user, who needs access to the folder.
    yield* Effect.promise(() => fs.chmod(folder, 0o711))
    return yield* EmbeddedPostgres.start({
      dataDir: folder,
      scratch: true,
      // Settings of a server that keeps its data.
      settings: { fsync: "on", full_page_writes: "on", shared_buffers: Settings.sharedBuffers(), ...settings },
    })
  })

type Server = Pick<EmbeddedPostgres.Running, "url">

/** Creates an empty database on that server. */
export const emptyDatabase = async (server: Server): Promise<Redacted.Redacted> => {
  const name = `bench_${randomBytes(6).toString("hex")}`
  const url = Redacted.value(server.url)
  await execute(url, `CREATE DATABASE ${name}`)
  return Redacted.make(onDatabase(url, name))
}

/** Creates a migrated database on that server. */
export const freshDatabase = async (server: Server): Promise<Redacted.Redacted> => {
  const created = await emptyDatabase(server)
  await Effect.runPromise(Migrations.migrate(created))
  return created
}

export const execute = async (url: string, ...statements: ReadonlyArray<string>): Promise<ReadonlyArray<unknown>> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const rows: Array<unknown> = []
    for (const statement of statements) rows.push(...(await client.query(statement)).rows)
    return rows
  } finally {
    await client.end()
  }
}

/** Delay of a commit on a cloud disk; a local disk is faster and would favour contenders that sync often. */
export const CLOUD_COMMIT_MICROS = 2000

/** Delays every commit before its sync, in every session, from the next statement on. */
export const setCommitDelay = (server: EmbeddedPostgres.Running, micros: number): Promise<unknown> =>
  execute(
    Redacted.value(server.adminUrl),
    `ALTER SYSTEM SET commit_delay = ${micros}`,
    "ALTER SYSTEM SET commit_siblings = 0",
    "SELECT pg_reload_conf()",
  )

export interface Environment {
  readonly cpu: string
  readonly cores: number
  readonly loadAverage: number
  readonly system: string
  readonly node: string
  readonly postgres: string
}

export const environment = async (server: EmbeddedPostgres.Running): Promise<Environment> => {
  const [row] = await execute(Redacted.value(server.url), "SHOW server_version")
  return {
    cpu: os.cpus()[0]?.model.trim() ?? "unknown",
    cores: os.availableParallelism(),
    loadAverage: Number(os.loadavg()[0]?.toFixed(2)),
    system: `${os.platform()} ${os.release()}`,
    node: process.version,
    postgres: String(Object.values(row ?? {})[0]),
  }
}

export const describe = (environment: Environment): string =>
  `${environment.cores} cores (${environment.cpu}), load ${environment.loadAverage} before, ${environment.system}, ` +
  `Node ${environment.node}, PostgreSQL ${environment.postgres}; load and server share the machine.`
