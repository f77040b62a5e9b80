import { PgClient } from "@effect/sql-pg"
import { Cause, Data, Effect, Redacted, Runtime } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import pg from "pg"
import * as Session from "./Session.ts"

/** The connection pooler between this process and Postgres does not keep sessions; exits with EX_CONFIG of sysexits.h. */
export class PoolerUnfit extends Data.TaggedError("PoolerUnfit")<{ readonly message: string }> {
  override readonly [Runtime.errorExitCode] = 78
}

/** Number of rounds of transactions; the order in which the two sessions end theirs changes, so that a pooler mixes them up. */
export const ROUNDS = 4
const NAMES = Object.keys(Session.SESSION)

/**
 * Refuses a connection pooler that does not keep one session of Postgres for each connection. Session locks, LISTEN and
 * prepared statements need that. A pooler in session mode is fine; in transaction mode everything would seem to work until
 * two processes hold the same lock.
 */
export const check = (url: Redacted.Redacted): Effect.Effect<void, PoolerUnfit> =>
  Effect.gen(function* () {
    // Other errors, such as an invalid address, are left to the migration, which reports them as well.
    const isMixed = yield* Effect.orElseSucceed(
      Effect.tryPromise(() => mixesSessions(url)),
      () => false,
    )
    if (isMixed) return yield* new PoolerUnfit({ message: NOT_IN_SESSION_MODE })
    const applied = yield* appliedSettings(url)
    if (applied.length < NAMES.length) {
      const dropped = NAMES.filter((name) => !applied.includes(name))
      return yield* new PoolerUnfit({ message: `${SETTINGS_DROPPED} ${dropped.map(alter).join(" ")}` })
    }
  })

const NOT_IN_SESSION_MODE =
  "DATABASE_URL points to a connection pooler in transaction or statement mode, which mixes up the locks and prepared " +
  "statements of processes. Set pool_mode = session for this database, or connect to Postgres directly."
const SETTINGS_DROPPED =
  "DATABASE_URL points to a connection pooler that drops session settings. Set them on the role, so that every session has " +
  "them, and let the pooler reconnect:"
const SETTINGS_REFUSED =
  "DATABASE_URL points to a connection pooler that refuses session settings. For PgBouncer, add to its configuration: " +
  `ignore_startup_parameters = ${NAMES.join(",")} and set them on the role: ${NAMES.map((name) => alter(name)).join(" ")}`

function alter(name: string): string {
  return `ALTER ROLE CURRENT_USER SET ${name} = '${Session.SESSION[name as keyof typeof Session.SESSION]}';`
}

/** Returns whether two connections share a session, or one connection changes its session between transactions. */
const mixesSessions = async (url: Redacted.Redacted): Promise<boolean> => {
  const clients = [clientOf(url), clientOf(url)] as const
  const pidOf = async (nth: 0 | 1) =>
    (await clients[nth].query<{ readonly pid: number }>("SELECT pg_backend_pid() AS pid")).rows[0]?.pid
  try {
    for (const client of clients) await client.connect()
    const pids = [await pidOf(0), await pidOf(1)]
    if (pids[0] === pids[1]) return true
    for (let round = 0; round < ROUNDS; round++) {
      const order = round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)
      // Inside a transaction even such a pooler keeps the session; afterwards it hands out the one released last.
      for (const nth of order) await clients[nth].query("BEGIN")
      for (const nth of order) await clients[nth].query("COMMIT")
      for (const nth of order) if ((await pidOf(nth)) !== pids[nth]) return true
    }
    return false
  } catch (cause) {
    // Statement mode refuses a transaction. Any other error is left to the migration, which reports it better.
    return cause instanceof Error && /statement pooling/iu.test(cause.message)
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => {})))
  }
}

const clientOf = (url: Redacted.Redacted): pg.Client => {
  const client = new pg.Client({
    connectionString: Redacted.value(url),
    application_name: "waybill check",
    connectionTimeoutMillis: Session.CONNECT_TIMEOUT_MS,
  })
  // A lost connection shows as the error of its query; without a handler the event would end the process.
  client.on("error", () => {})
  return client
}

/** Returns the names of the session settings that the pooler passes on. */
const appliedSettings = (url: Redacted.Redacted): Effect.Effect<ReadonlyArray<string>, PoolerUnfit> =>
  Effect.gen(function* () {
    const sql = yield* PgClient.makeClient({
      url,
      applicationName: "waybill check",
      startupParameters: Session.SESSION,
    })
    const rows = yield* sql<{ readonly name: string; readonly is_applied: boolean }>`
      SELECT wanted.name, current_setting(wanted.name) = wanted.value AS is_applied
      FROM unnest(${NAMES}::text[], ${Object.values(Session.SESSION)}::text[]) AS wanted(name, value)`
    return rows.filter(({ is_applied }) => is_applied).map(({ name }) => name)
  }).pipe(
    Effect.scoped,
    Effect.provide(Reactivity.layer),
    Effect.catchCause((cause) =>
      Cause.pretty(cause).includes("unsupported startup parameter")
        ? Effect.fail(new PoolerUnfit({ message: SETTINGS_REFUSED }))
        : // A database that does not answer is reported by its next user.
          Effect.succeed(NAMES),
    ),
  )
