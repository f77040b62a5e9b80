import { EventStore } from "@waybill/store/commit/EventStore"
import { Context, Effect, Layer } from "effect"
import * as Database from "../../support/postgres/Database.ts"
import { judge, type Row } from "./judge.ts"
import { type Scenario, sleep } from "./Scenario.ts"
import * as Target from "./Target.ts"
import * as Watch from "./Watch.ts"

/** Time for a stop. A stopped service saves its compile cache for the next start; a killed one does not. */
const STOP_MS = 5_000
const IDLE_MS = { short: 1_000, long: 3_000 }

export interface Options {
  readonly seed: number
  readonly form: "short" | "long"
}

/** Attacks one service repeatedly and restarts the service after an attack that killed it. */
export class Run extends Context.Service<
  Run,
  {
    readonly attack: (scenario: Scenario, index: number) => Effect.Effect<Row>
    readonly rows: ReadonlyArray<Row>
  }
>()("test/attack/Run") {
  static readonly layer = (options: Options) =>
    Layer.effect(Run, make(options)).pipe(
      Layer.provideMerge(EventStore.layer()),
      Layer.provideMerge(Database.layerFresh),
    )
}

interface Running {
  readonly target: Target.Target
  readonly watch: Watch.Watch
  readonly idle: number
}

const make = Effect.fnUntraced(function* ({ form, seed }: Options) {
  const deployment: Target.Deployment = {
    database: yield* Database.Fresh,
    run: Effect.runPromiseWith(yield* Effect.context<EventStore>()),
    owner: undefined,
  }
  const control = yield* Effect.acquireRelease(
    Effect.promise(() => Watch.startControl()),
    ({ stop }) => Effect.promise(stop),
  )
  const startService = async (): Promise<Running> => {
    const target = await Target.start(deployment)
    await Target.warmUp(target)
    const endpoints = { service: target.http, control: { host: "127.0.0.1", port: control.port } }
    const watch = await Watch.open({ ...endpoints, pid: target.pid })
    await watch.begin()
    await sleep(IDLE_MS[form])
    return { target, watch, idle: (await watch.end()).stall }
  }
  let running = yield* Effect.promise(startService)
  const end = async () => {
    await running.watch.stop()
    await running.target.stop(STOP_MS)
  }
  yield* Effect.addFinalizer(() => Effect.promise(end))
  const rows: Array<Row> = []
  const attack = (scenario: Scenario, index: number) =>
    Effect.promise(async () => {
      const row = await judge(scenario, { ...running, form, index, seed })
      rows.push(row)
      if (row.isDead) {
        await end()
        running = await startService()
      }
      return row
    })
  return Run.of({ attack, rows })
})
