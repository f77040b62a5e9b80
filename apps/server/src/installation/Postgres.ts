import * as Embedded from "@waybill/embedded-postgres/server/EmbeddedPostgres"
import type { ServerDied } from "@waybill/embedded-postgres/system/Failure"
import { Context, Data, Effect, Layer, Option, Redacted } from "effect"
import { readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { Settings } from "../settings/Settings.ts"

/** File in which a running service stores the URL of its embedded server, for the command line. */
const addressFile = (settings: Settings): string => join(settings.data, "database-url")
const folderOf = (settings: Settings): string => join(settings.data, "postgres")
const OWNER_ONLY = 0o600
const installedOf = (postgres: Settings["postgres"]) =>
  Option.match(postgres, { onNone: () => ({}), onSome: (installed) => ({ installed }) })

/** A read-only command found no database; it must not create an empty one and report about that. */
export class NoDatabase extends Data.TaggedError("NoDatabase")<{ readonly folder: string }> {
  override get message() {
    return `no database found: DATABASE_URL is not set, and ${this.folder} contains no embedded Postgres. Set DATABASE_URL or WAYBILL_DATA as for the service, or create a database with \`waybill start\` or \`waybill migrate\`.`
  }
}

/** The database: the operator's Postgres, or an embedded one that lives as long as this process. */
export class Postgres extends Context.Service<
  Postgres,
  {
    readonly url: Redacted.Redacted
    /** Fails when the embedded server ended unexpectedly and could not be restarted; never otherwise. */
    readonly died: Effect.Effect<never, ServerDied>
  }
>()("@waybill/server/installation/Postgres") {
  /**
   * For the service: starts the embedded server, or fails if another process uses its folder. `launched` completes once
   * the server only has to be waited for.
   */
  static readonly start = Effect.fnUntraced(function* (
    settings: Settings,
    launched: Effect.Effect<void> = Effect.void,
  ) {
    if (Option.isSome(settings.databaseUrl)) {
      yield* launched
      return Postgres.of({ url: settings.databaseUrl.value, died: Effect.never })
    }
    const { died, url } = yield* Embedded.start({
      dataDir: folderOf(settings),
      isRestarted: true,
      launched,
      ...installedOf(settings.postgres),
    })
    const file = addressFile(settings)
    yield* Effect.acquireRelease(
      Effect.promise(() => writeFile(file, Redacted.value(url), { mode: OWNER_ONLY })),
      () => Effect.promise(() => rm(file, { force: true })),
    )
    return Postgres.of({ url, died })
  })

  /**
   * For an instance that lasts as long as this process: the data folder is that of the server, which syncs nothing to
   * disk, and is removed at the end, even if this process is killed.
   */
  static readonly temporary = ({ data, postgres }: Settings) =>
    Embedded.start({ dataDir: data, scratch: true, ...installedOf(postgres) })

  /** For a folder to copy temporary ones from. */
  static readonly template = ({ data, postgres }: Settings) =>
    Embedded.start({ dataDir: data, compact: true, ...installedOf(postgres) })

  /**
   * For commands that may create the database: starts the embedded server, or connects to the one of a running service.
   */
  static readonly reachOrMake = (settings: Settings) =>
    Postgres.start(settings).pipe(
      Effect.catchTag("FolderHeld", (held) =>
        Effect.tryPromise({ try: () => readFile(addressFile(settings), "utf8"), catch: () => held }).pipe(
          Effect.map((url) => Postgres.of({ url: Redacted.make(url), died: Effect.never })),
        ),
      ),
    )

  /** For all other commands: connects to an existing database only. */
  static readonly reach = Effect.fnUntraced(function* (settings: Settings) {
    const folder = folderOf(settings)
    if (Option.isNone(settings.databaseUrl) && !(yield* Embedded.isThere(folder)))
      return yield* new NoDatabase({ folder })
    return yield* Postgres.reachOrMake(settings)
  })

  static readonly layer = (settings: Settings) => Layer.effect(Postgres, Postgres.reach(settings))
  static readonly layerOrMake = (settings: Settings) => Layer.effect(Postgres, Postgres.reachOrMake(settings))
}
