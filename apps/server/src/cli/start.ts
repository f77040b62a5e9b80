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
  Flag.withDescription(`Do a part of it: ${Role.ALL.join(", ")}, separated by commas; otherwise what ROLES says`),
  Flag.withSchema(Role.FromText),
  Flag.optional,
)

/** Runs the service until it is told to stop. */
const run = Effect.fnUntraced(function* (asked: Option.Option<Role.Roles>) {
  const loaded = yield* Settings.load
  const settings = { ...loaded, roles: Option.getOrElse(asked, () => loaded.roles) }
  // Nothing stands before the embedded server.
  const isOurs = Option.isNone(settings.databaseUrl)
  // The service's own code is read while Postgres starts, and never by another command. Not sooner: reading it leaves
  // no moment in which a server could be launched.
  const launched = yield* Latch.make()
  const { postgres, service } = yield* Effect.all(
    {
      postgres: Effect.tap(Postgres.start(settings, launched.open), ({ url }) =>
        Effect.andThen(isOurs ? Effect.void : ConnectionPooler.check(url), Migrations.migrate(url)).pipe(
          // Another node's migration may be what takes long.
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
