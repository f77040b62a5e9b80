import * as Migrations from "@waybill/store/database/Migrations"
import * as ConnectionPooler from "@waybill/store/database/ConnectionPooler"
import { Duration, Effect, Latch, Option, type Redacted, Schedule } from "effect"
import { Command, Flag } from "effect/cli"
import * as Output from "../cli/Output.ts"
import * as Logs from "../observability/Logs.ts"
import * as NotListening from "./service/NotListening.ts"
import { Postgres } from "../installation/Postgres.ts"
import * as RunningSettings from "../installation/RunningSettings.ts"
import * as Role from "../settings/Role.ts"
import * as Settings from "../settings/Settings.ts"
import { waitingFor } from "../process/waitingFor.ts"

const roles = Flag.String("roles").pipe(
  Flag.withDescription(`Roles to run, separated by commas: ${Role.ALL.join(", ")}; the setting ROLES by default`),
  Flag.withSchema(Role.FromText),
  Flag.optional,
)

/** How long a start waits for a server that refuses connections: it may be starting at the same time. */
export const SERVER_START = Duration.seconds(10)

const reach = (url: Redacted.Redacted) =>
  Migrations.reach(url).pipe(
    Effect.retry({
      while: (error) => error._tag === "ConnectFailed" && error.isTransient,
      schedule: Schedule.upTo(Schedule.spaced("500 millis"), { duration: SERVER_START }),
    }),
    waitingFor("the server of DATABASE_URL"),
  )

/** Says what a start does, to a person who waits for it at a terminal. */
const step = (what: string) => (process.stdout.isTTY ? Output.complain(`waybill: ${what}`) : Effect.void)

/** Runs the service until it is stopped. `flags` are settings that the command line has set. */
const run = Effect.fnUntraced(function* (settings: Settings.Settings, flags: Readonly<Record<string, string>>) {
  yield* Effect.forEach(Settings.misspelled(process.env), (warning) => Effect.logWarning(warning))
  // No pooler stands before an embedded server.
  const isEmbedded = Option.isNone(settings.databaseUrl)
  yield* step(isEmbedded ? "starting the database" : "connecting to the database")
  // The code of the service is loaded while Postgres starts, and by no other command. Loading blocks the process, so it
  // begins only once Postgres was launched.
  const launched = yield* Latch.make()
  const { postgres, service } = yield* Effect.all(
    {
      postgres: Effect.tap(Postgres.start(settings, launched.open), ({ url }) =>
        Effect.gen(function* () {
          if (!isEmbedded) {
            yield* reach(url)
            yield* ConnectionPooler.check(url)
          }
          yield* step("bringing the schema of the database up to date")
          // Waits here while another node runs migrations.
          yield* Migrations.migrate(url).pipe(waitingFor("the database, to bring its schema up to date"))
        }),
      ),
      service: launched.whenOpen(
        Effect.andThen(
          NotListening.checkPorts(settings),
          Effect.promise(() => import("./service/Serve.ts")),
        ),
      ),
    },
    { concurrency: "unbounded" },
  )
  yield* RunningSettings.store(settings.data, flags)
  return yield* service.serve(settings, postgres)
}, Effect.scoped)

export const start = Command.make("start", { roles }, ({ roles }) =>
  Effect.flatMap(Settings.load, (loaded) =>
    run(
      { ...loaded, roles: Option.getOrElse(roles, () => loaded.roles) },
      Option.match(roles, { onNone: () => ({}), onSome: (given) => ({ ROLES: given.join(",") }) }),
    ).pipe(
      // Outside the scope, so that everything is logged in the same way until the last step of the stop.
      Effect.provide(Logs.layer(loaded.logLevel)),
    ),
  ),
).pipe(Command.withDescription("Run the service: API, documentation and delivery"))
