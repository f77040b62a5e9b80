import { Context, Effect, Layer, Redacted, type Scope } from "effect"
import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"
import * as Address from "./Address.ts"
import * as Cluster from "./Cluster.ts"
import { type EmbeddedPostgresError, notStarted, type ServerDied } from "./Failure.ts"
import * as Holder from "./Holder.ts"
import * as Ownership from "./Ownership.ts"
import * as Password from "./Password.ts"
import * as Placement from "./Placement.ts"
import * as Server from "./Server.ts"
import * as Settings from "./Settings.ts"

export interface Options {
  readonly dataDir: string
  /** Over and above the defaults, by their Postgres names. */
  readonly settings?: Readonly<Record<string, string>>
  /** A database for one run: nothing is synced to disk, and the folder is removed at the end, however that comes. */
  readonly scratch?: boolean
  /** Where root keeps what the unprivileged user cannot reach in the folder; `/var/lib/waybill` by default. */
  readonly rootHome?: string
  /** The folder of a Postgres to run instead of npm's, from 17 on: what makes a cluster asks for that. */
  readonly installed?: string
  /** For file systems that hold no sockets; without it the start finds out by itself. */
  readonly loopback?: boolean
  /** Done once the server's process runs and makes itself ready: the moment for work of our own. */
  readonly launched?: Effect.Effect<void>
}

export interface Running {
  /** The service's own role and database. The same text serves sql-pg, node-postgres and libpq. */
  readonly url: Redacted.Redacted
  /** The superuser, on the database `postgres`. */
  readonly adminUrl: Redacted.Redacted
  readonly pid: number
  readonly socketDir: string | undefined
  readonly logFile: string
  /** Fails when the server ends without having been asked to. */
  readonly died: Effect.Effect<never, ServerDied>
}

const LOG_FILE = "postgres.log"

const url = (address: Address.Address, user: string, password: string, database: string) =>
  Redacted.make(
    address._tag === "Socket"
      ? // An empty host is no valid URL for all parsers; the query's host is the one that all of them use.
        `postgres://${user}:${password}@localhost:${address.port}/${database}?host=${encodeURIComponent(address.folder)}`
      : `postgres://${user}:${password}@127.0.0.1:${address.port}/${database}`,
  )

const attempt = <A>(reason: string, body: () => Promise<A>): Effect.Effect<A, EmbeddedPostgresError> =>
  Effect.tryPromise({ try: body, catch: notStarted(reason) })

const cleanUp = (body: () => Promise<void>) => Effect.ignore(Effect.tryPromise(body))

/** Starts the server of a folder, making the folder's cluster first if there is none. It stops with the scope. */
export const start: (options: Options) => Effect.Effect<Running, EmbeddedPostgresError, Scope.Scope> = Effect.fn(
  "EmbeddedPostgres.start",
)(function* (options) {
  const scratch = options.scratch ?? false
  const rootHome = options.rootHome ?? Placement.ROOT_HOME
  const found = yield* attempt("The data folder cannot be used.", () =>
    Placement.find(options.dataDir, rootHome, options.installed),
  )
  yield* Effect.acquireRelease(
    attempt("The data folder cannot be locked.", () => Holder.acquire(found)),
    cleanUp,
  )
  // Not before the folder is ours.
  if (scratch) yield* Effect.addFinalizer(() => cleanUp(() => removeAll(found)))
  yield* attempt("A server left by an earlier run cannot be stopped.", () => Server.stopLeftover(found))
  const place = yield* attempt("The data cannot be given to a user of its own.", () =>
    Ownership.settle(found, rootHome),
  )
  if (scratch) yield* Effect.addFinalizer(() => cleanUp(() => forget(place)))
  const password = yield* attempt("The password file cannot be used.", () => Password.find(place))
  yield* attempt("The cluster cannot be made.", () => Cluster.ensure(place, password, scratch))
  yield* attempt("The password file cannot be used.", () => Password.keep(place, password))
  const address = yield* Effect.acquireRelease(
    attempt("There is no place for a socket.", () => Address.choose(place, os.tmpdir(), options.loopback ?? false)),
    (address) => cleanUp(() => Address.discard(address)),
  )
  const compression = yield* attempt("The server cannot be run.", () =>
    Cluster.accepts(place, "wal_compression", Settings.PREFERRED_WAL_COMPRESSION),
  )
  const logFile = path.join(place.folder, LOG_FILE)
  const server = yield* Server.run(place, {
    logFile,
    args: Settings.asArguments({
      ...Settings.SETTINGS,
      shared_buffers: Settings.sharedBuffers(),
      ...(compression ? { wal_compression: Settings.PREFERRED_WAL_COMPRESSION } : {}),
      ...(scratch ? Settings.SCRATCH_SETTINGS : {}),
      ...options.settings,
      ...Address.settings(address),
    }),
    launched: options.launched ?? Effect.void,
    leavings: [
      ...(scratch ? [...folders(place), ...(place.registered === undefined ? [] : [place.registered])] : []),
      ...(address._tag === "Socket" && address.temporary ? [address.folder] : []),
    ],
  })
  return {
    url: url(address, Cluster.ROLE, password.text, Cluster.DATABASE),
    adminUrl: url(address, Cluster.ADMIN, password.text, "postgres"),
    pid: server.pid,
    socketDir: address._tag === "Socket" ? address.folder : undefined,
    logFile,
    died: server.died,
  }
}, Effect.uninterruptible)

/** Whether `start` would find a cluster, and not make one. */
export const isThere = (dataDir: string): Effect.Effect<boolean> => Effect.promise(() => Placement.hasData(dataDir))

export class EmbeddedPostgres extends Context.Service<EmbeddedPostgres, Running>()(
  "@waybill/embedded-postgres/EmbeddedPostgres",
) {
  static readonly layer = (options: Options) => Layer.effect(EmbeddedPostgres, start(options))
}

const folders = (place: Placement.Placement) => [...new Set([place.folder, place.home])]

const forget = async ({ registered }: Placement.Placement) => {
  if (registered !== undefined) await fs.rm(registered, { force: true })
}

const removeAll = async (place: Placement.Placement) => {
  for (const folder of folders(place)) await fs.rm(folder, { recursive: true, force: true })
}
