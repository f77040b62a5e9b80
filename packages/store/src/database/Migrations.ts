import { Data, Effect, Redacted, Result } from "effect"
import { runMigrations } from "graphile-worker"
import { setTimeout as pause } from "node:timers/promises"
import pg from "pg"
import { KEEPALIVE } from "../postgres/Sockets.ts"
import * as CellName from "../routing/CellName.ts"
import * as MigrationFiles from "./MigrationFiles.ts"
import * as Session from "./Session.ts"
import * as DatabaseUrl from "../postgres/DatabaseUrl.ts"
import { watchedClient, type Steps } from "./watchedClient.ts"

/** Advisory lock that lets nodes that start together migrate one after another. */
const ADVISORY_LOCK = 0x5742_0001
/** How long a migration waits for a table lock; meanwhile other statements on the table queue behind it. */
const LOCK_TIMEOUT = "10s"
const STATEMENT_TIMEOUT = "10min"
/** How long one node waits for another that migrates: for a few of the longest statements. */
export const LONGEST_WAIT_MS = 30 * 60_000
const LOCK_RETRY_MS = 250
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

/** Whether a database is that of the installation, with its cells that are schemas, or of a cell with a server of its own. */
export type Owner = "home" | "cell"

/** Migrates the schema to this release. Safe when several nodes start at once, also when one of them is older. */
export const migrate = (url: Redacted.Redacted, folder = MigrationFiles.FOLDER, of: Owner = "home") =>
  withClient(url, async (client, steps) => {
    await refuseOldServer(client)
    steps.current = "waiting for another process that migrates it"
    await lock(client)
    await client.query(`SET lock_timeout = '${LOCK_TIMEOUT}'; SET statement_timeout = '${STATEMENT_TIMEOUT}'`)
    await client.query(TABLE)
    const { pending } = await compare(client, folder)
    for (const file of await MigrationFiles.read(folder)) {
      if (!pending.includes(file.name)) continue
      steps.current = `applying the migration ${file.name}`
      try {
        await apply(client, file, of)
      } catch (cause) {
        await client.query("ROLLBACK").catch(() => {})
        throw cause instanceof MigrationFailed ? cause : failureOf(file.name, CellName.FIRST, cause)
      }
    }
    steps.current = "applying the migrations of graphile-worker"
    await migrateGraphile(url)
    return compare(client, folder)
  })

/** Makes the table of the migrations that were applied. */
export const TABLE = `CREATE TABLE IF NOT EXISTS schema_migrations (
  name text COLLATE "C" PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())`

/** Applies a file in every cell that has its tables; as a whole or not at all. */
const apply = async (client: pg.Client, file: MigrationFiles.MigrationFile, of: Owner): Promise<void> => {
  await client.query("BEGIN")
  // Locks the table, so that no cell is made meanwhile.
  await client.query("INSERT INTO schema_migrations (name) VALUES ($1)", [file.name])
  const places = ["every", "server", "database", ...(of === "home" ? (["home"] as const) : [])] as const
  await run(client, file.name, CellName.FIRST, MigrationFiles.at(file, ...places))
  const every = MigrationFiles.at(file, "every")
  const others = of === "home" && every.length > 0 ? await otherSchemas(client) : []
  for (const cell of others) await run(client, file.name, cell, every)
  await client.query("COMMIT")
}

/** Lists the cells that are schemas of this server. One with a server of its own is migrated there. */
const otherSchemas = async (client: pg.Client): Promise<ReadonlyArray<CellName.CellName>> => {
  const { rows } = await client.query<{ readonly name: string }>(
    "SELECT name FROM cells WHERE address IS NULL AND name <> $1 ORDER BY name",
    [CellName.FIRST],
  )
  return rows.map(({ name }) => name)
}

const run = async (client: pg.Client, name: string, cell: CellName.CellName, statements: ReadonlyArray<string>) => {
  await client.query(`SET LOCAL search_path = ${CellName.searchPathOf(cell)}`)
  // One at a time: Citus accepts no more of them in one query.
  for (const statement of statements)
    await client.query(statement).catch((cause: unknown) => Promise.reject(failureOf(name, cell, cause)))
}

/** The file that makes all tables. */
const FIRST_FILE = "0001_waybill.sql"

export const failureOf = (name: string, cell: CellName.CellName, cause: unknown) =>
  new MigrationFailed({
    message: `migration ${name} failed${cell === CellName.FIRST ? "" : ` in the cell ${cell}`}: ${messageOf(cause)}`,
    cause,
  })

/** Connects once, to name the fault of a wrong URL before anything else runs. */
export const reach = (url: Redacted.Redacted) => withClient(url, () => Promise.resolve())

/** Returns which migrations are applied and which are pending, without changing anything. */
export const check = (url: Redacted.Redacted, folder = MigrationFiles.FOLDER) =>
  withClient(url, (client) => compare(client, folder))

/** Fails on a schema that is not current, for commands that must not upgrade it. */
export const requireCurrent = (url: Redacted.Redacted, folder = MigrationFiles.FOLDER) =>
  Effect.flatMap(check(url, folder), refusePending)

export const refusePending = ({ applied, pending }: Status): Effect.Effect<void, SchemaBehind> => {
  if (pending.length === 0) return Effect.void
  const message =
    applied.length === 0
      ? "the database is empty: run `waybill start`, or `waybill migrate` to create only the schema"
      : `the database schema is older than this release of Waybill (pending: ${pending.join(", ")}): run \`waybill migrate\`, or start this release once`
  return Effect.fail(new SchemaBehind({ message }))
}

/** Migrates an empty database, and fails on a schema that is not current, for commands that may be the first to run. */
export const requireCurrentOrCreate = (url: Redacted.Redacted, folder = MigrationFiles.FOLDER) =>
  Effect.flatMap(check(url, folder), ({ applied }) =>
    applied.length === 0 ? migrate(url, folder) : requireCurrent(url, folder),
  )

const compare = async (client: pg.Client, folder: string): Promise<Status> => {
  const table = await client.query<{ readonly exists: boolean; readonly is_whole: boolean }>(
    `SELECT to_regclass('schema_migrations') IS NOT NULL AS exists, to_regclass('${LAST_TABLE}') IS NOT NULL AS is_whole`,
  )
  const rows =
    table.rows[0]?.exists === true
      ? (await client.query<{ readonly name: string }>("SELECT name FROM schema_migrations ORDER BY name")).rows
      : []
  const applied = rows.map((row) => row.name)
  const isPart = applied.includes(FIRST_FILE) && table.rows[0]?.is_whole !== true
  const status = statusOf(isPart ? [...BEFORE_RELEASES, ...applied] : applied, await MigrationFiles.namesIn(folder))
  if (Result.isFailure(status)) throw status.failure
  return status.success
}

/** Migrations of versions from before the first release, whose schemas no release upgrades. */
const BEFORE_RELEASES = ["0001_event_log.sql", "0002_inbound.sql"]
/** The youngest table of the first file, which had the same name before the first release, and did not make it. */
const LAST_TABLE = "log_cosignatures"

/** Compares the applied migrations with the files of this release. */
export const statusOf = (
  applied: ReadonlyArray<string>,
  files: ReadonlyArray<string>,
): Result.Result<Status, MigrationFailed> => {
  if (applied.some((name) => BEFORE_RELEASES.includes(name))) {
    const message =
      "this database was made by a version of Waybill from before the first release and cannot be upgraded: " +
      "write its log to a file with `waybill events export` of that version, and bring the file into an empty database with `waybill events import` of this one"
    return Result.fail(new MigrationFailed({ message }))
  }
  // Compared by name, not by the last number: releases developed in parallel leave gaps for each other.
  const unknown = applied.filter((name) => !files.includes(name))
  if (unknown.length > 0) {
    const message = `the database schema is newer than this release of Waybill (${unknown.join(", ")}): upgrade this node first`
    return Result.fail(new MigrationFailed({ message }))
  }
  return Result.succeed({ applied, pending: files.filter((name) => !applied.includes(name)) })
}

/** Takes the lock of migrations, for at most `LONGEST_WAIT_MS`. */
const lock = async (client: pg.Client): Promise<void> => {
  for (const began = performance.now(); performance.now() - began < LONGEST_WAIT_MS; await pause(LOCK_RETRY_MS)) {
    const { rows } = await client.query<{ readonly taken: boolean }>("SELECT pg_try_advisory_lock($1) AS taken", [
      ADVISORY_LOCK,
    ])
    if (rows[0]?.taken === true) return
  }
  throw new MigrationFailed({
    message: `the database could not be migrated: another process has held the lock of migrations for ${LONGEST_WAIT_MS / 60_000} minutes. \`SELECT pid, application_name FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE locktype = 'advisory' AND objid = ${ADVISORY_LOCK}\` names it.`,
  })
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

/** Makes the queue of tasks, which each server has for itself: Citus is not to carry it to other nodes. */
export const migrateGraphile = async (url: Redacted.Redacted): Promise<void> => {
  const pool = new pg.Pool({
    ...KEEPALIVE,
    connectionString: Redacted.value(url),
    max: 1,
    connectionTimeoutMillis: Session.CONNECT_TIMEOUT_MS,
  })
  // graphile-worker requires both handlers.
  pool.on("error", () => {})
  pool.on("connect", (client) => {
    client.on("error", () => {})
    client.query("SET citus.enable_ddl_propagation = off").catch(() => {})
  })
  try {
    await runMigrations({ pgPool: pool })
  } finally {
    await pool.end()
  }
}

const withClient = <A>(url: Redacted.Redacted, use: (client: pg.Client, steps: Steps) => Promise<A>) =>
  Effect.tryPromise({
    try: () => watchedClient(url, use),
    catch: (cause) =>
      cause instanceof MigrationFailed || cause instanceof DatabaseUrl.ConnectFailed
        ? cause
        : new MigrationFailed({ message: `the database could not be migrated: ${messageOf(cause)}`, cause }),
  })

/** SQLSTATE of a lock that was not granted within `LOCK_TIMEOUT`. */
const LOCK_NOT_AVAILABLE = "55P03"

const messageOf = (cause: unknown): string => {
  if (!(cause instanceof Error)) return String(cause)
  return "code" in cause && cause.code === LOCK_NOT_AVAILABLE
    ? `another session has locked a table that it changes for more than ${LOCK_TIMEOUT}; end that session, or start again later`
    : cause.message
}
