import * as Migrations from "@waybill/store/postgres/Migrations"
import * as ConnectionPooler from "@waybill/store/postgres/ConnectionPooler"
import { Effect, Latch, Option } from "effect"
import { Command, Flag } from "effect/cli"
import * as Logs from "../observability/Logs.ts"
import { Postgres } from "../boot/Postgres.ts"
import * as Role from "../boot/Role.ts"
import * as Settings from "../boot/Settings.ts"
import { waitingFor } from "../boot/waitingFor.ts"

const roles = Flag.String("roles").pipe(
  Flag.withDescription(`Roles to run, separated by commas: ${Role.ALL.join(", ")}; the setting ROLES by default`),
  Flag.withSchema(Role.FromText),
  Flag.optional,
)

/** Runs the service until it is stopped. */
const run = Effect.fnUntraced(function* (chosen: Option.Option<Role.Roles>) {
  const loaded = yield* Settings.load
  const settings = { ...loaded, roles: Option.getOrElse(chosen, () => loaded.roles) }
  // No pooler stands before an embedded server.
  const isEmbedded = Option.isNone(settings.databaseUrl)
  // The code of the service is loaded while Postgres starts, and by no other command. Loading blocks the process, so it
  // begins only once Postgres was launched.
  const launched = yield* Latch.make()
  const { postgres, service } = yield* Effect.all(
    {
      postgres: Effect.tap(Postgres.start(settings, launched.open), ({ url }) =>
        Effect.andThen(isEmbedded ? Effect.void : ConnectionPooler.check(url), Migrations.migrate(url)).pipe(
          // Waits here while another node runs migrations.
          waitingFor("the database, to bring its schema up to date"),
          Effect.provide(Logs.layer(settings.logLevel)),
        ),
      ),
      service: launched.whenOpen(Effect.promise(() => import("../boot/serve.ts"))),
    },
    { concurrency: "unbounded" },
  )
  return yield* service.serve(settings, postgres)
}, Effect.scoped)

export const start = Command.make("start", { roles }, ({ roles }) => run(roles)).pipe(
  Command.withDescription("Run the service: API, documentation and delivery"),
)
