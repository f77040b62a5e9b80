import { Context, Effect, Layer, Redacted, type Scope } from "effect"
import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"
import * as Address from "../ownership/Address.ts"
import * as Cluster from "./Cluster.ts"
import * as Failure from "../system/Failure.ts"
import * as FolderLock from "./FolderLock.ts"
import * as Ownership from "../ownership/Ownership.ts"
import * as Password from "./Password.ts"
import * as Placement from "../ownership/Placement.ts"
import * as Server from "./Server.ts"
import * as Settings from "./Settings.ts"

export interface Options {
  readonly dataDir: string
  /** Additional settings by their Postgres names. They override the defaults. */
  readonly settings?: Readonly<Record<string, string>>
  /**
   * A temporary database: nothing is synced to disk, and the folder is removed at the end, even if the process is
   * killed.
   */
  readonly scratch?: boolean
  /**
   * A database to copy: with few and small files. Its cluster has no database `postgres`, so `adminUrl` reaches
   * nothing.
   */
  readonly compact?: boolean
  /** Where root keeps files that the unprivileged user cannot reach in the folder; `/var/lib/waybill` by default. */
  readonly rootHome?: string
  /** The folder of a Postgres (17 or newer) to use instead of npm's. */
  readonly installed?: string
  /** Uses TCP on loopback. Without it, the start tests whether the file system supports sockets. */
  readonly loopback?: boolean
  /** Starts the server again when it ends unexpectedly; see `died` for when that fails. */
  readonly isRestarted?: boolean
  /** Runs once the server process exists and while it starts up: the time for other start-up work. */
  readonly launched?: Effect.Effect<void>
}

export interface Running {
  /** Connection string with the service's role and database, for sql-pg, node-postgres and libpq. */
  readonly url: Redacted.Redacted
  /** Connection string of the superuser for the database `postgres`. */
  readonly adminUrl: Redacted.Redacted
  readonly pid: number
  readonly socketDir: string | undefined
  readonly logFile: string
  /** Fails when the server ended unexpectedly and could not be restarted. */
  readonly died: Effect.Effect<never, Failure.ServerDied>
}

const LOG_FILE = "postgres.log"

const url = (address: Address.Address, user: string, password: string, database: string) =>
  Redacted.make(
    address._tag === "Socket"
      ? // Some parsers reject an empty host; all of them use the host of the query.
        `postgres://${user}:${password}@localhost:${address.port}/${database}?host=${encodeURIComponent(address.folder)}`
      : `postgres://${user}:${password}@127.0.0.1:${address.port}/${database}`,
  )

const attempt = <A>(reason: string, body: () => Promise<A>): Effect.Effect<A, Failure.EmbeddedPostgresError> =>
  Effect.tryPromise({ try: body, catch: Failure.notStarted(reason) })

const cleanUp = (body: () => Promise<void>) => Effect.ignore(Effect.tryPromise(body))

/** Starts the server of a folder and creates its cluster if there is none. The server stops with the scope. */
export const start: (options: Options) => Effect.Effect<Running, Failure.EmbeddedPostgresError, Scope.Scope> =
  Effect.fn("EmbeddedPostgres.start")(function* (options) {
    const scratch = options.scratch ?? false
    const compact = options.compact ?? false
    const rootHome = options.rootHome ?? Placement.ROOT_HOME
    const initialPlacement = yield* attempt("The data folder cannot be used.", () =>
      Placement.find(options.dataDir, rootHome, options.installed),
    )
    yield* Effect.acquireRelease(
      attempt("The data folder cannot be locked.", () => FolderLock.acquire(initialPlacement)),
      cleanUp,
    )
    // Only after this process has locked the folder.
    if (scratch) yield* Effect.addFinalizer(() => cleanUp(() => removeAll(initialPlacement)))
    yield* attempt("The server of an earlier run cannot be stopped.", () => Server.stopLeftover(initialPlacement))
    const placement = yield* attempt("The data folder's owner cannot be changed.", () =>
      Ownership.settle(initialPlacement, rootHome),
    )
    if (scratch) yield* Effect.addFinalizer(() => cleanUp(() => forget(placement)))
    const password = yield* attempt("The password file cannot be used.", () => Password.find(placement))
    yield* attempt("The cluster cannot be created.", () => Cluster.ensure(placement, password, { scratch, compact }))
    yield* attempt("The password file cannot be used.", () => Password.keep(placement, password))
    const address = yield* Effect.acquireRelease(
      attempt("The socket cannot be created.", () => Address.choose(placement, os.tmpdir(), options.loopback ?? false)),
      (address) => cleanUp(() => Address.discard(address)),
    )
    // A temporary database writes no whole pages to its log, which are all that is compressed.
    const compression = scratch
      ? false
      : yield* attempt("The server cannot be started.", () =>
          Cluster.accepts(placement, "wal_compression", Settings.PREFERRED_WAL_COMPRESSION),
        )
    const logFile = path.join(placement.folder, LOG_FILE)
    const server = yield* Server.run(placement, {
      logFile,
      args: Settings.asArguments({
        ...Settings.SETTINGS,
        shared_buffers: Settings.sharedBuffers(),
        ...(compression ? { wal_compression: Settings.PREFERRED_WAL_COMPRESSION } : {}),
        ...(scratch ? Settings.SCRATCH_SETTINGS : {}),
        ...(compact ? Settings.COMPACT_SETTINGS : {}),
        ...options.settings,
        ...Address.settings(address),
      }),
      launched: options.launched ?? Effect.void,
      isRestarted: options.isRestarted ?? false,
      removeAfterwards: [
        ...(scratch
          ? [...folders(placement), ...(placement.registered === undefined ? [] : [placement.registered])]
          : []),
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

/** Whether `start` would find a cluster rather than create one. */
export const isThere = (dataDir: string): Effect.Effect<boolean> => Effect.promise(() => Placement.hasData(dataDir))

export class EmbeddedPostgres extends Context.Service<EmbeddedPostgres, Running>()(
  "@waybill/embedded-postgres/server/EmbeddedPostgres",
) {
  static readonly layer = (options: Options) => Layer.effect(EmbeddedPostgres, start(options))
}

const folders = (placement: Placement.Placement) => [...new Set([placement.folder, placement.home])]

const forget = async ({ registered }: Placement.Placement) => {
  if (registered !== undefined) await fs.rm(registered, { force: true })
}

const removeAll = async (placement: Placement.Placement) => {
  for (const folder of folders(placement)) await fs.rm(folder, { recursive: true, force: true })
}
