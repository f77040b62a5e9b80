import { Effect, Layer, Logger, References } from "effect"
import { welcome } from "./cli/welcome.ts"
import * as Installation from "./Installation.ts"
import type { Postgres } from "./Postgres.ts"
import * as Service from "./Service.ts"
import type { Settings } from "./Settings.ts"

/** Everything the service is, on a database that is migrated, until it is told to stop. */
export const serve = (settings: Settings, postgres: Postgres["Service"]) => {
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
  return serving.pipe(
    Effect.provide(Layer.merge(Service.store(settings, postgres.url), Service.instance(settings))),
    Effect.provide(logging),
  )
}
