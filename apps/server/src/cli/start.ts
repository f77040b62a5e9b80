import * as Migrations from "@waybill/store/Migrations"
import { Effect, Latch } from "effect"
import { Command } from "effect/cli"
import { Postgres } from "../Postgres.ts"
import * as Settings from "../Settings.ts"

/** Runs the whole service until it is told to stop. */
const run = Effect.gen(function* () {
  const settings = yield* Settings.load
  // The service's own code is read while Postgres starts, and never by another command. Not sooner: reading it leaves
  // no moment in which a server could be launched.
  const launched = yield* Latch.make()
  const { postgres, service } = yield* Effect.all(
    {
      postgres: Effect.tap(Postgres.start(settings, launched.open), ({ url }) => Migrations.migrate(url)),
      service: launched.whenOpen(Effect.promise(() => import("../serve.ts"))),
    },
    { concurrency: "unbounded" },
  )
  return yield* service.serve(settings, postgres)
}).pipe(Effect.scoped)

export const start = Command.make("start", {}, () => run).pipe(
  Command.withDescription("Run the service: API, documentation and delivery"),
)
