import * as Migrations from "@waybill/store/Migrations"
import { Effect, Layer, Logger, References } from "effect"
import { Command } from "effect/cli"
import * as Installation from "../Installation.ts"
import { Postgres } from "../Postgres.ts"
import * as Service from "../Service.ts"
import * as Settings from "../Settings.ts"
import { welcome } from "./welcome.ts"

/** Runs the whole service until it is told to stop. */
const run = Effect.gen(function* () {
  const settings = yield* Settings.load
  const postgres = yield* Postgres.start(settings)
  yield* Migrations.migrate(postgres.url)
  const serving = Effect.gen(function* () {
    const first = yield* Installation.ensure()
    yield* Layer.build(
      Layer.mergeAll(Service.http(settings), Service.smtp(settings), Service.worker(settings, postgres.url)),
    )
    yield* welcome(settings, first)
    return yield* postgres.died
  })
  const logging = Layer.mergeAll(
    Logger.layer([Logger.consoleJson]),
    Layer.succeed(References.MinimumLogLevel, settings.logLevel),
    // Nobody collects spans yet, so none are made.
    Layer.succeed(References.TracerEnabled, false),
  )
  return yield* serving.pipe(
    Effect.provide(Layer.merge(Service.store(settings, postgres.url), Service.instance(settings))),
    Effect.provide(logging),
  )
}).pipe(Effect.scoped)

export const start = Command.make("start", {}, () => run).pipe(
  Command.withDescription("Run the service: API, documentation and delivery"),
)
