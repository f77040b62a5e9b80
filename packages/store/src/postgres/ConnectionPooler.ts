import { PgClient } from "@effect/sql-pg"
import { Cause, Data, Effect, Redacted, Runtime } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import pg from "pg"
import { CONNECT_TIMEOUT_MS, SESSION } from "./Database.ts"

/** What is between this process and Postgres does not keep a session together; as sysexits.h counts, the settings are wrong. */
export class PoolerUnfit extends Data.TaggedError("PoolerUnfit")<{ readonly message: string }> {
  override readonly [Runtime.errorExitCode] = 78
}

/** Each round ends with the two sessions' connections given back in another order, so that a pooler mixes them up. */
export const ROUNDS = 4
const NAMES = Object.keys(SESSION)

/**
 * A lease is held by a lock of a session, tasks are woken by LISTEN, and statements are prepared: all of it wants one
 * session of Postgres for as long as the connection lasts. Postgres itself gives that, and so does a pooler in session
 * mode; in transaction mode everything would seem to work, until two processes hold the same lock.
 */
export const check = (url: Redacted.Redacted): Effect.Effect<void, PoolerUnfit> =>
  Effect.gen(function* () {
    // An address that is none is said by the migration too.
    const mixed = yield* Effect.orElseSucceed(
      Effect.tryPromise(() => mixesSessions(url)),
      () => false,
    )
    if (mixed) return yield* new PoolerUnfit({ message: NOT_BY_SESSION })
    const kept = yield* settingsKept(url)
    if (kept.length < NAMES.length) {
      const lost = NAMES.filter((name) => !kept.includes(name))
      return yield* new PoolerUnfit({ message: `${LOST} ${lost.map(alter).join(" ")}` })
    }
  })

const NOT_BY_SESSION =
  "DATABASE_URL leads to a pooler in transaction or statement mode, in which locks and prepared statements of one process " +
  "become another's. Set pool_mode = session for this database, or name Postgres itself."
const LOST =
  "DATABASE_URL leads to a pooler that keeps settings of a session to itself. Give them to the role, by which every session " +
  "has them, and let the pooler reconnect:"
const REFUSED =
  "DATABASE_URL leads to a pooler that refuses settings of a session. For PgBouncer, write into its configuration: " +
  `ignore_startup_parameters = ${NAMES.join(",")} and give them to the role: ${NAMES.map((name) => alter(name)).join(" ")}`

function alter(name: string): string {
  return `ALTER ROLE CURRENT_USER SET ${name} = '${SESSION[name as keyof typeof SESSION]}';`
}

/** Two sessions side by side that are the same one, or one that is another the next time, are no sessions. */
const mixesSessions = async (url: Redacted.Redacted): Promise<boolean> => {
  const clients = [clientOf(url), clientOf(url)] as const
  const pidOf = async (nth: 0 | 1) =>
    (await clients[nth].query<{ readonly pid: number }>("SELECT pg_backend_pid() AS pid")).rows[0]?.pid
  try {
    for (const client of clients) await client.connect()
    const known = [await pidOf(0), await pidOf(1)]
    if (known[0] === known[1]) return true
    for (let round = 0; round < ROUNDS; round++) {
      const order = round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)
      // In a transaction even such a pooler gives each its own; afterwards it hands out what it got back last.
      for (const nth of order) await clients[nth].query("BEGIN")
      for (const nth of order) await clients[nth].query("COMMIT")
      for (const nth of order) if ((await pidOf(nth)) !== known[nth]) return true
    }
    return false
  } catch (cause) {
    // In statement mode a transaction is refused; whatever else is wrong, the migration says better.
    return cause instanceof Error && /statement pooling/iu.test(cause.message)
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => {})))
  }
}

const clientOf = (url: Redacted.Redacted): pg.Client => {
  const client = new pg.Client({
    connectionString: Redacted.value(url),
    application_name: "waybill check",
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  })
  // Whoever is using it learns of the loss by its query.
  client.on("error", () => {})
  return client
}

/** The names of the settings that came through. */
const settingsKept = (url: Redacted.Redacted): Effect.Effect<ReadonlyArray<string>, PoolerUnfit> =>
  Effect.gen(function* () {
    const sql = yield* PgClient.makeClient({ url, applicationName: "waybill check", startupParameters: SESSION })
    const rows = yield* sql<{ readonly name: string; readonly is_kept: boolean }>`
      SELECT wanted.name, current_setting(wanted.name) = wanted.value AS is_kept
      FROM unnest(${NAMES}::text[], ${Object.values(SESSION)}::text[]) AS wanted(name, value)`
    return rows.filter(({ is_kept }) => is_kept).map(({ name }) => name)
  }).pipe(
    Effect.scoped,
    Effect.provide(Reactivity.layer),
    Effect.catchCause((cause) =>
      Cause.pretty(cause).includes("unsupported startup parameter")
        ? Effect.fail(new PoolerUnfit({ message: REFUSED }))
        : // A database that does not answer is said by who needs it.
          Effect.succeed(NAMES),
    ),
  )
