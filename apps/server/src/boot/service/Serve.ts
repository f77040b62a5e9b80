import { Availability } from "@waybill/store/availability/Availability"
import * as Database from "@waybill/store/database/Database"
import * as Readiness from "@waybill/store/operations/Readiness"
import { Effect, Layer, Option } from "effect"
import * as SqlErrors from "@waybill/store/postgres/SqlErrors"
import type { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import { welcome } from "./welcome.ts"
import * as Background from "./Background.ts"
import * as Installation from "./Installation.ts"
import * as NotListening from "./NotListening.ts"
import { Exposition } from "../../metrics/Exposition.ts"
import * as Logs from "../../observability/Logs.ts"
import * as Tracing from "../../observability/Tracing.ts"
import type { Postgres } from "../../installation/Postgres.ts"
import type { Role } from "../../settings/Role.ts"
import * as Service from "./Service.ts"
import type { Settings } from "../../settings/Settings.ts"
import * as Stop from "../../process/Stop.ts"
import type { AttemptOptions } from "../../worker/delivery/attemptDelivery.ts"

/** Name of the lock under which one of several starting nodes installs. */
const INSTALLATION_LOCK = 1

/**
 * Creates the first account and prints its secrets. Only after all listeners have started: a start that fails because its
 * port is in use must not consume the first credentials. Only a process with the api role prints them.
 */
const installAndWelcome = (settings: Settings) =>
  Effect.flatMap(
    settings.roles.includes("api")
      ? SqlErrors.orUnavailable(Database.oneProcessAtATime(INSTALLATION_LOCK)(Installation.ensure()))
      : Effect.succeed({ first: undefined, hasMail: false }),
    (installed) => welcome(settings, installed),
  )

/** Runs the roles of this process on a migrated database until it is stopped. */
export const serve = (settings: Settings, postgres: Postgres["Service"]) =>
  serveWith(settings, postgres, { meanwhile: Effect.void, ready: () => installAndWelcome(settings) })

/** Runs the roles with other work while the listeners start, and with its result when they have. */
export const serveWith = <A, R1, R2>(
  settings: Settings,
  postgres: Postgres["Service"],
  work: {
    readonly meanwhile: Effect.Effect<A, StoreUnavailable, R1>
    readonly scripts?: AttemptOptions["scripts"]
    readonly ready: (done: A) => Effect.Effect<void, StoreUnavailable, R2>
  },
) => {
  let isStarted = false
  const serving = Effect.gen(function* () {
    const { roles } = settings
    const part = <A, E, R>(role: Role, layer: Layer.Layer<A, E, R>) => (roles.includes(role) ? layer : Layer.empty)
    const exposition = yield* Exposition
    const metrics = Service.metricsRoute(settings, exposition)
    const smtp = part("smtp", Service.smtp(settings))
    const listeners = Layer.build(
      Layer.mergeAll(
        // The dashboard says where mail comes in.
        part("api", Layer.provide(Service.http(settings, postgres.url, metrics), smtp)),
        Service.metrics(settings).pipe(Layer.provide(Layer.succeed(Exposition, exposition))),
        smtp,
        part("worker", Background.worker(settings, postgres.url, work.scripts)),
      ),
    ).pipe(Effect.mapError(NotListening.fromError(settings)))
    const [listening, done] = yield* Effect.all([listeners, work.meanwhile], { concurrency: 2 })
    const { begin } = yield* Stop.Stop
    const { waiting } = yield* Availability
    // The stop waits for the database as a request does: if it hangs, its connections are closed, and the stop goes on.
    yield* Effect.addFinalizer(() => Effect.andThen(begin, Effect.sync(waiting)))
    yield* Effect.provide(work.ready(done), listening)
    isStarted = true
    return yield* Effect.tapError(postgres.died, ({ message }) => Effect.logError(message))
    // Closed before the store is, so that work in progress can still be recorded.
  }).pipe(Effect.scoped)
  const logging = Layer.merge(Logs.layer(settings.logLevel), Tracing.layer(settings))
  return serving.pipe(
    Effect.provide(
      Layer.merge(
        Exposition.layer({
          poolSize: settings.databaseConnections,
          data: settings.data,
          backups: settings.roles.includes("worker") ? Option.getOrUndefined(settings.backupTo) : undefined,
        }).pipe(Layer.provideMerge(Service.store(settings, postgres.url))),
        Service.instance(settings),
      ),
    ),
    Effect.provideService(Readiness.Started, () => isStarted),
    Effect.provide(Layer.unwrap(Effect.map(Stop.Overdue, Stop.layer))),
    Effect.provide(logging),
  )
}
