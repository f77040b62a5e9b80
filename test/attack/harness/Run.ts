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
    readonly attack: (scenario: Scenario, nth: number) => Effect.Effect<Row>
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
  const ground: Target.Ground = {
    database: yield* Database.Fresh,
    run: Effect.runPromiseWith(yield* Effect.context<EventStore>()),
    owner: undefined,
  }
  const control = yield* Effect.acquireRelease(
    Effect.promise(() => Watch.control()),
    ({ stop }) => Effect.promise(stop),
  )
  const begin = async (): Promise<Running> => {
    const target = await Target.start(ground)
    await Target.warmUp(target)
    const places = { service: target.http, control: { host: "127.0.0.1", port: control.port } }
    const watch = await Watch.open({ ...places, pid: target.pid })
    await watch.begin()
    await sleep(IDLE_MS[form])
    return { target, watch, idle: (await watch.end()).stall }
  }
  let running = yield* Effect.promise(begin)
  const end = async () => {
    await running.watch.stop()
    await running.target.stop(STOP_MS)
  }
  yield* Effect.addFinalizer(() => Effect.promise(end))
  const rows: Array<Row> = []
  const attack = (scenario: Scenario, nth: number) =>
    Effect.promise(async () => {
      const row = await judge(scenario, { ...running, form, nth, seed })
      rows.push(row)
      if (row.isDead) {
        await end()
        running = await begin()
      }
      return row
    })
  return Run.of({ attack, rows })
})
