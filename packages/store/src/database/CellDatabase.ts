import { PgConnection } from "@effect/sql-pg"
import * as Text from "@waybill/domain/values/Text"
import { Data, Duration, Effect, type Redacted } from "effect"
import { SqlError } from "effect/sql"
import { randomInt } from "node:crypto"
import pg from "pg"
import * as DatabaseUrl from "../postgres/DatabaseUrl.ts"
import * as SqlErrors from "../postgres/SqlErrors.ts"
import type { CellServer } from "../routing/CellKeys.ts"
import * as ConnectionPooler from "./ConnectionPooler.ts"
import * as MigrationFiles from "./MigrationFiles.ts"
import * as Migrations from "./Migrations.ts"
import * as NodeMigrations from "./NodeMigrations.ts"
import * as Session from "./Session.ts"
import { watchedClient } from "./watchedClient.ts"

/** The database of a cell's server cannot be used, with the reason in words. */
export class CellDatabaseUnfit extends Data.TaggedError("CellDatabaseUnfit")<{
  readonly message: string
  /** Whether it answers, and lets no more clients in. */
  readonly isFull?: boolean
  /** Whether nothing answers at its address. */
  readonly isAway?: boolean
}> {}

/** Properties of a database, as its server tells them. */
export interface Found {
  readonly version: number
  readonly is_standby: boolean
  readonly encoding: string
  /** Identity of the cell that it belongs to. */
  readonly identity: string | null
  readonly tables: number
}

/** Oldest and newest version of Postgres that is tested. */
const VERSIONS = { oldest: 15, newest: 18 } as const
const MARK = "waybill cell "
/** Time limit of a look at a server that may be another one than is thought, and of the text that is taken from it. */
const LOOKED_WITHIN = Duration.seconds(10)
const MAX_LOOK_BYTES = 65_536
const MAX_SHOWN_CHARS = 300
/** Advisory lock of a database that becomes a cell: "WB", then the number of this use. */
const MARKING = 0x5742_4d4b

const LOOK = `
  SELECT current_setting('server_version_num')::int / 10000 AS version, pg_is_in_recovery() AS is_standby,
    current_setting('server_encoding') AS encoding,
    substring(obj_description('public'::regnamespace, 'pg_namespace') FROM '^${MARK}(.*)$') AS identity,
    (SELECT count(*)::int FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')) AS tables`

/** SQLSTATE. */
const TOO_MANY_CONNECTIONS = "53300"
/** Errors of a connection to an address where nothing answers. */
const AWAY: ReadonlySet<string> = new Set(
  "EAI_AGAIN ECONNREFUSED EHOSTUNREACH ENETUNREACH ENOENT ENOTFOUND ETIMEDOUT TIMEOUT".split(" "),
)

const unfit = (message: string) => new CellDatabaseUnfit({ message })
const SILENT = new CellDatabaseUnfit({ message: "the server does not answer", isAway: true })

/** Runs work on a connection of its own. */
export const onClient = <A>(url: Redacted.Redacted, use: (client: pg.Client) => Promise<A>) =>
  Effect.tryPromise({
    try: () => watchedClient(url, use),
    catch: (cause) => {
      if (cause instanceof Migrations.MigrationFailed || cause instanceof CellDatabaseUnfit) return unfit(cause.message)
      return unfit(inWords(cause))
    },
  })

/** One line about an error. Its text may be that of any server. */
const inWords = (cause: unknown): string =>
  cause instanceof DatabaseUrl.ConnectFailed
    ? cause.message.replace("DATABASE_URL: ", "")
    : `the server does not answer as a Postgres: ${Text.clip(cause instanceof Error ? cause.message : String(cause), MAX_SHOWN_CHARS)}`

/** Looks at a database as the connections do that serve a cell: by the same driver, and with the same TLS. */
const found = (url: Redacted.Redacted) =>
  Effect.gen(function* () {
    const connection = yield* PgConnection.make({
      url,
      applicationName: "waybill check",
      connectTimeout: Session.CONNECT_TIMEOUT_MS,
      maxMessageSize: MAX_LOOK_BYTES,
    })
    return (yield* connection.query(LOOK)).rows[0] as Found | undefined
  }).pipe(
    Effect.scoped,
    Effect.timeoutOrElse({ duration: LOOKED_WITHIN, orElse: () => Effect.fail(SILENT) }),
    Effect.mapError((error) => {
      if (!(error instanceof SqlError.SqlError)) return error
      const { cause } = error.reason
      const text = cause instanceof Error ? cause.message : error.message
      const code = SqlErrors.sqlState(error)
      const coded = Object.assign(new Error(text), { code })
      const message = inWords(DatabaseUrl.connectFailed(url, coded, Session.CONNECT_TIMEOUT_MS / 1_000) ?? coded)
      return new CellDatabaseUnfit({
        message,
        isFull: code === TOO_MANY_CONNECTIONS,
        isAway: AWAY.has(DatabaseUrl.codeOf(coded) ?? ""),
      })
    }),
  )

/** Connects, and refuses a database that takes no writes or is of a version that is not tested. */
export const look = Effect.fnUntraced(function* (url: Redacted.Redacted) {
  return yield* fit(yield* found(url))
})

/** Whether something answers at the address of a cell, unless it is certainly another database. */
export const isAnswering = ({ identity, isNode, url }: CellServer) =>
  Effect.match(found(url), {
    onFailure: ({ isAway = false }) => !isAway,
    onSuccess: (found) => isNode || found?.identity === identity,
  })

const fit = Effect.fnUntraced(function* (found: Found | undefined) {
  if (found === undefined) return yield* unfit("the server does not answer as a Postgres")
  const { is_standby } = found
  // Anything may answer there.
  const version = Number(found.version)
  if (version < VERSIONS.oldest || version > VERSIONS.newest)
    return yield* unfit(`the server is PostgreSQL ${version}; Waybill needs ${VERSIONS.oldest} to ${VERSIONS.newest}`)
  if (is_standby) return yield* unfit("the server is a standby, which takes no writes: promote it first")
  return found
})

/** Refuses a database that is not that of the cell. */
export const recognize = Effect.fnUntraced(function* ({ identity, isNode, url }: CellServer) {
  const found = yield* look(url)
  if (isNode) return yield* recognizeNode(url, identity)
  if (found.identity !== identity) return yield* unfit("the database at this address is not that of the cell")
})

/** Group of a node of Citus, and whether it has the positions of the cell of the connection. */
const LOOK_AT_NODE = `
  SELECT groupid AS group, to_regclass('event_position') IS NOT NULL AS has_cell FROM pg_dist_local_group`

const recognizeNode = Effect.fnUntraced(function* (url: Redacted.Redacted, group: string) {
  const found = yield* onClient(
    url,
    async (client) =>
      (await client.query<{ readonly group: number; readonly has_cell: boolean }>(LOOK_AT_NODE)).rows[0],
  )
  if (String(found?.group) !== group) return yield* unfit("the database at this address is not that of the cell's node")
  if (found?.has_cell !== true)
    return yield* unfit("the cell is on its way to another node: run `waybill cells move` again if it has stopped")
})

/**
 * Statement that returns whether its session is in the database of a cell. Other servers refuse it, or say no. A session that is kept
 * runs it first, because another server may be at the address since the last look.
 */
export const isOwn = ({ identity, isNode }: CellServer): string => {
  const own = pg.escapeLiteral(identity)
  return isNode
    ? `SELECT groupid::text = ${own} AND to_regclass('event_position') IS NOT NULL AS is_own FROM pg_dist_local_group`
    : `SELECT obj_description('public'::regnamespace, 'pg_namespace') = '${MARK}' || ${own}
        AND NOT pg_is_in_recovery() AS is_own`
}

/** Refuses a session in another database than that of its cell. Those of the first server have no mark. */
export const requireOwn = async (server: CellServer | undefined, client: pg.ClientBase): Promise<void> => {
  if (server === undefined) return
  const { rows } = await client.query<{ readonly is_own: boolean | null }>(isOwn(server))
  if (rows[0]?.is_own !== true) throw unfit("the database at this address is not that of the cell")
}

/** Runs statements, as a whole or not at all. */
export const run = (url: Redacted.Redacted, statements: ReadonlyArray<string>) =>
  onClient(url, async (client) => {
    await client.query(statements.join(";\n"))
  })

/** Whether a cell's database has neither accounts nor events. */
export const isEmpty = (url: Redacted.Redacted) =>
  onClient(url, async (client) => {
    const { rows } = await client.query<{ readonly is_empty: boolean }>(
      "SELECT NOT EXISTS (SELECT 1 FROM accounts) AND NOT EXISTS (SELECT 1 FROM events) AS is_empty",
    )
    return rows[0]?.is_empty === true
  })

/** The last position that a cell's database has given. A promoted standby may name one that is a little higher. */
export const lastPosition = (url: Redacted.Redacted) =>
  onClient(url, async (client) => {
    const { rows } = await client.query<{ readonly last: string }>(
      "SELECT last_value::text AS last FROM event_position",
    )
    return BigInt(rows[0]?.last ?? 0)
  })

/** Changes the mark of a database if it is as wanted, while nobody else does, and returns how it was found. */
const marked = (url: Redacted.Redacted, isWanted: (found: Found) => boolean, mark: string) =>
  onClient(url, async (client) => {
    await client.query("BEGIN")
    await client.query(`SELECT pg_advisory_xact_lock(${MARKING}, 0)`)
    const [found] = (await client.query<Found>(LOOK)).rows
    if (found === undefined) throw unfit("the server does not answer as a Postgres")
    if (isWanted(found)) await client.query(`COMMENT ON SCHEMA public IS ${mark}`)
    await client.query("COMMIT")
    return found
  })

const isFree = ({ identity, tables }: Found) => identity === null && tables === 0

/** Makes a database that is empty that of a cell, and returns how it was found. */
export const mark = (url: Redacted.Redacted, identity: string) => marked(url, isFree, pg.escapeLiteral(MARK + identity))

/** Takes the mark of a cell away. */
export const unmark = (url: Redacted.Redacted, identity: string) =>
  marked(url, (found) => found.identity === identity, "NULL")

/** Whether two addresses lead to the same database: the lock of a session in one is seen in the other. */
export const isSame = (one: Redacted.Redacted, other: Redacted.Redacted) =>
  onClient(one, async (client) => {
    const key = randomInt(2 ** 47)
    await client.query("SELECT pg_advisory_lock($1::bigint)", [key])
    return watchedClient(other, async (second) => {
      const { rows } = await second.query<{ readonly is_free: boolean }>(
        "SELECT pg_try_advisory_lock($1::bigint) AS is_free",
        [key],
      )
      return rows[0]?.is_free === false
    })
  })

/** Brings the schema of a cell's server up to date. */
export const migrate = (url: Redacted.Redacted) =>
  Effect.catch(Migrations.migrate(url, MigrationFiles.FOLDER, "cell"), ({ message }) => Effect.fail(unfit(message)))

/** Refuses an address that is not that of the cell, or whose connections a pooler mixes up. */
export const requireFit = Effect.fnUntraced(function* (server: CellServer) {
  yield* recognize(server)
  yield* Effect.catch(ConnectionPooler.check(server.url), ({ message }) => Effect.fail(unfit(message)))
})

/**
 * Makes sure that the server is that of the cell and has the tables of this release: a cell that was away during an upgrade is
 * served once it has caught up.
 */
export const prepare = (server: CellServer) => Effect.andThen(recognize(server), bringUpToDate(server))

/** The coordinator brings most tables of a node up to date, together with those of the first cell. */
export const bringUpToDate = Effect.fnUntraced(function* (server: CellServer, folder = MigrationFiles.FOLDER) {
  const pending = yield* pendingOf(server, folder)
  if (pending.length === 0) return
  yield* Effect.logInfo("the schema of a cell is brought up to date", { pending: pending.join(", ") })
  if (!server.isNode) yield* migrate(server.url)
  else yield* onClient(server.url, (client) => NodeMigrations.migrate(client, server.schema, folder))
})

/** Returns the migrations that a cell lacks at its server, or at the node that holds it. */
export const pendingOf = (server: CellServer, folder = MigrationFiles.FOLDER) =>
  server.isNode
    ? onClient(server.url, (client) => NodeMigrations.pendingIn(client, server.schema, folder))
    : Migrations.check(server.url, folder).pipe(
        Effect.map(({ pending }) => pending),
        Effect.mapError(({ message }) => unfit(message)),
      )
