import * as Database from "@waybill/store/postgres/Database"
import * as Readiness from "@waybill/store/operations/Readiness"
import { Effect, Layer } from "effect"
import { welcome } from "../cli/welcome.ts"
import * as Installation from "./Installation.ts"
import * as NotListening from "./NotListening.ts"
import { Exposition } from "../observability/Exposition.ts"
import * as Logs from "../observability/Logs.ts"
import * as Tracing from "../observability/Tracing.ts"
import type { Postgres } from "./Postgres.ts"
import type { Role } from "./Role.ts"
import * as Service from "./Service.ts"
import type { Settings } from "./Settings.ts"
import * as Stop from "./Stop.ts"

/** Of several nodes that start at once on an empty log, one installs. */
const INSTALLING = 1

/** What the settings ask of this process, on a database that is migrated, until it is told to stop. */
export const serve = (settings: Settings, postgres: Postgres["Service"]) => {
  let isStarted = false
  const serving = Effect.gen(function* () {
    const { roles } = settings
    const part = <A, E, R>(role: Role, layer: Layer.Layer<A, E, R>) => (roles.includes(role) ? layer : Layer.empty)
    const exposition = yield* Exposition
    const metrics = Service.metricsRoute(settings, exposition)
    yield* Layer.build(
      Layer.mergeAll(
        part("api", Service.http(settings, postgres.url, metrics)),
        Service.metrics(settings).pipe(Layer.provide(Layer.succeed(Exposition, exposition))),
        part("smtp", Service.smtp(settings)),
        part("worker", Service.worker(settings, postgres.url)),
      ),
    ).pipe(Effect.mapError(NotListening.told(settings)))
    const { begin } = yield* Stop.Stop
    yield* Effect.addFinalizer(() => begin)
    // Only now: a start that finds its port taken has installed nothing, and the next one shows the first secrets. Who
    // answers requests shows them; the others find an installation or wait for one.
    const first = roles.includes("api")
      ? yield* Effect.orDie(Database.inTurn(INSTALLING)(Installation.ensure()))
      : undefined
    yield* welcome(settings, first)
    isStarted = true
    return yield* postgres.died
    // Ended before what it stands on: work under way is written down into a store that is still there.
  }).pipe(Effect.scoped)
  const logging = Layer.merge(Logs.layer(settings.logLevel), Tracing.layer(settings))
  return serving.pipe(
    Effect.provide(
      Layer.merge(
        Exposition.layer({ poolSize: settings.databaseConnections, data: settings.data }).pipe(
          Layer.provideMerge(Service.store(settings, postgres.url)),
        ),
        Service.instance(settings),
      ),
    ),
    Effect.provideService(Readiness.Started, () => isStarted),
    Effect.provide(Stop.layer(overdue)),
    Effect.provide(logging),
  )
}

/** Others find that this process is gone, and take what it held. */
const overdue = Effect.andThen(
  Effect.logError("the stop took too long and was broken off; attempts under way are told as lost"),
  Effect.sync(() => process.exit(1)),
)
