import { Data, Effect, Redacted } from "effect"
import { runMigrations } from "graphile-worker"
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import pg from "pg"
import * as Database from "./Database.ts"

export const FOLDER = fileURLToPath(new URL("../../../../db/migrations/", import.meta.url))
/** Advisory lock that lets nodes that start together migrate one after another. */
const ADVISORY_LOCK = 0x5742_0001
/** How long a migration waits for a table lock; meanwhile other statements on the table queue behind it. */
const LOCK_TIMEOUT = "10s"
const STATEMENT_TIMEOUT = "10min"
/** PostgreSQL 15 is the oldest tested version. */
const OLDEST_SERVER = 150_000

export class MigrationFailed extends Data.TaggedError("MigrationFailed")<{
  readonly message: string
  readonly cause?: unknown
}> {}

/** A command that expects the current schema was run on an older one. */
export class SchemaBehind extends Data.TaggedError("SchemaBehind")<{ readonly message: string }> {}

export interface Status {
  readonly applied: ReadonlyArray<string>
  readonly pending: ReadonlyArray<string>
}

/** Migrates the schema to this release. Safe when several nodes start at once, also when one of them is older. */
export const migrate = (url: Redacted.Redacted, folder = FOLDER): Effect.Effect<Status, MigrationFailed> =>
  withClient(url, async (client) => {
    await client.query("SELECT pg_advisory_lock($1)", [ADVISORY_LOCK])
    await refuseOldServer(client)
    await client.query(`SET lock_timeout = '${LOCK_TIMEOUT}'; SET statement_timeout = '${STATEMENT_TIMEOUT}'`)
    await client.query(`CREATE TABLE IF NOT EXISTS schema_migrations (
      name text COLLATE "C" PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())`)
    const { pending } = await compare(client, folder)
    for (const name of pending) {
      const text = await readFile(join(folder, name), "utf8")
      try {
        // Sent as one simple query, so that a file may hold any number of statements; it is applied as a whole or not at all.
        await client.query(`BEGIN;\n${text}\n;INSERT INTO schema_migrations (name) VALUES ('${name}');COMMIT`)
      } catch (cause) {
        await client.query("ROLLBACK").catch(() => {})
        throw new MigrationFailed({ message: `migration ${name} failed: ${messageOf(cause)}`, cause })
      }
    }
    await migrateGraphile(url)
    return compare(client, folder)
  })

/** Returns which migrations are applied and which are pending, without changing anything. */
export const check = (url: Redacted.Redacted, folder = FOLDER): Effect.Effect<Status, MigrationFailed> =>
  withClient(url, (client) => compare(client, folder))

/** Fails on a schema that is not current, for commands that must not upgrade it. */
export const requireCurrent = (url: Redacted.Redacted, folder = FOLDER) =>
  Effect.flatMap(check(url, folder), ({ applied, pending }) => {
    if (pending.length === 0) return Effect.void
    const message =
      applied.length === 0
        ? "the database is empty: run `waybill start`, or `waybill migrate` to create only the schema"
        : `the database schema is older than this release of Waybill (pending: ${pending.join(", ")}): run \`waybill migrate\`, or start this release once`
    return Effect.fail(new SchemaBehind({ message }))
  })

/** Migrates an empty database, and fails on a schema that is not current, for commands that may be the first to run. */
export const requireCurrentOrCreate = (url: Redacted.Redacted, folder = FOLDER) =>
  Effect.flatMap(check(url, folder), ({ applied }) =>
    applied.length === 0 ? migrate(url, folder) : requireCurrent(url, folder),
  )

const compare = async (client: pg.Client, folder: string): Promise<Status> => {
  const files = (await readdir(folder)).filter((name) => name.endsWith(".sql")).sort()
  const table = await client.query<{ readonly exists: boolean }>(
    "SELECT to_regclass('schema_migrations') IS NOT NULL AS exists",
  )
  const rows =
    table.rows[0]?.exists === true
      ? (await client.query<{ readonly name: string }>("SELECT name FROM schema_migrations ORDER BY name")).rows
      : []
  const applied = rows.map((row) => row.name)
  // Compared by name, not by the last number: releases developed in parallel leave gaps for each other.
  const unknown = applied.filter((name) => !files.includes(name))
  if (unknown.length > 0) {
    throw new MigrationFailed({
      message: `the database schema is newer than this release of Waybill (${unknown.join(", ")}): upgrade this node first`,
    })
  }
  return { applied, pending: files.filter((name) => !applied.includes(name)) }
}

const refuseOldServer = async (client: pg.Client): Promise<void> => {
  const { rows } = await client.query<{ readonly server_version_num: string }>("SHOW server_version_num")
  const version = Number(rows[0]?.server_version_num)
  if (version < OLDEST_SERVER) {
    throw new MigrationFailed({
      message: `DATABASE_URL points to PostgreSQL ${Math.floor(version / 10_000)}; Waybill needs 15 to 18`,
    })
  }
}

const migrateGraphile = async (url: Redacted.Redacted): Promise<void> => {
  const pool = new pg.Pool({
    connectionString: Redacted.value(url),
    max: 1,
    connectionTimeoutMillis: Database.CONNECT_TIMEOUT_MS,
  })
  // graphile-worker requires both handlers.
  pool.on("error", () => {})
  pool.on("connect", (client) => void client.on("error", () => {}))
  try {
    await runMigrations({ pgPool: pool })
  } finally {
    await pool.end()
  }
}

const withClient = <A>(url: Redacted.Redacted, use: (client: pg.Client) => Promise<A>) =>
  Effect.tryPromise({
    try: async () => {
      const client = new pg.Client({
        connectionString: Redacted.value(url),
        application_name: "waybill migrate",
        connectionTimeoutMillis: Database.CONNECT_TIMEOUT_MS,
      })
      client.on("error", () => {})
      await client.connect()
      try {
        return await use(client)
      } finally {
        await client.end()
      }
    },
    catch: (cause) =>
      cause instanceof MigrationFailed
        ? cause
        : new MigrationFailed({ message: `the database could not be migrated: ${messageOf(cause)}`, cause }),
  })

/** Messages of the driver for a connection that timed out. */
const TIMED_OUT = /^(?:timeout expired|timeout exceeded when trying to connect|.*due to connection timeout)$/iu

const messageOf = (cause: unknown): string => {
  const message = cause instanceof Error ? cause.message : String(cause)
  return TIMED_OUT.test(message)
    ? `the server did not answer within ${Database.CONNECT_TIMEOUT_MS / 1_000} seconds`
    : message
}
