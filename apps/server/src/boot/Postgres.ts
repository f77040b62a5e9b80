import * as Embedded from "@waybill/embedded-postgres/EmbeddedPostgres"
import type { ServerDied } from "@waybill/embedded-postgres/Failure"
import { Context, Data, Effect, Layer, Option, Redacted } from "effect"
import { readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { Settings } from "./Settings.ts"

/** Where a running service tells the command line how to reach its embedded server. */
const addressFile = (settings: Settings): string => join(settings.data, "database-url")
const folderOf = (settings: Settings): string => join(settings.data, "postgres")
const OWNER_ONLY = 0o600

/** A command that asks about a database must not answer from one that it has just made. */
export class NoDatabase extends Data.TaggedError("NoDatabase")<{ readonly folder: string }> {
  override get message() {
    return `there is no database: DATABASE_URL is not set, and ${this.folder} holds no embedded Postgres. Set what the service runs with, DATABASE_URL or WAYBILL_DATA; \`waybill start\` and \`waybill migrate\` make a new one.`
  }
}

/** Where the log is: the operator's Postgres, or our own that lives as long as this process. */
export class Postgres extends Context.Service<
  Postgres,
  {
    readonly url: Redacted.Redacted
    /** Fails when an embedded server ends by itself; never otherwise. */
    readonly died: Effect.Effect<never, ServerDied>
  }
>()("@waybill/server/Postgres") {
  /**
   * For the service: starts the embedded server, and fails when another process holds its folder. `launched` is done
   * once there is nothing left but to wait for the server.
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
      launched,
      ...(Option.isSome(settings.postgres) ? { installed: settings.postgres.value } : {}),
    })
    const file = addressFile(settings)
    yield* Effect.acquireRelease(
      Effect.promise(() => writeFile(file, Redacted.value(url), { mode: OWNER_ONLY })),
      () => Effect.promise(() => rm(file, { force: true })),
    )
    return Postgres.of({ url, died })
  })

  /** For a command that begins something: the same, or the server of the service that runs on this folder already. */
  static readonly reachOrMake = (settings: Settings) =>
    Postgres.start(settings).pipe(
      Effect.catchTag("FolderHeld", (held) =>
        Effect.tryPromise({ try: () => readFile(addressFile(settings), "utf8"), catch: () => held }).pipe(
          Effect.map((url) => Postgres.of({ url: Redacted.make(url), died: Effect.never })),
        ),
      ),
    )

  /** For every other command: only what is there. */
  static readonly reach = Effect.fnUntraced(function* (settings: Settings) {
    const folder = folderOf(settings)
    if (Option.isNone(settings.databaseUrl) && !(yield* Embedded.isThere(folder)))
      return yield* new NoDatabase({ folder })
    return yield* Postgres.reachOrMake(settings)
  })

  static readonly layer = (settings: Settings) => Layer.effect(Postgres, Postgres.reach(settings))
  static readonly layerOrMake = (settings: Settings) => Layer.effect(Postgres, Postgres.reachOrMake(settings))
}
