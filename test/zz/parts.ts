import "effect/schema/SchemaJITCompiler/enable"
import * as Email from "@waybill/domain/Email"
import * as Id from "@waybill/domain/Id"
import * as Database from "@waybill/store/Database"
import { EventStore } from "@waybill/store/EventStore"
import * as EmailLog from "@waybill/store/EmailLog"
import * as EmailSubjects from "@waybill/store/EmailSubjects"
import { live } from "@waybill/store/Consequences"
import { readModels } from "@waybill/store/ReadModels"
import { Context, Effect, Exit, Layer, References, Result, Scope } from "effect"
import { randomBytes } from "node:crypto"
import { message } from "../bench/store/message.ts"
import * as Measure from "../bench/measure.ts"
import * as Cpu from "../bench/accept/cpu.ts"
const account = Id.make("AccountId", Date.now(), randomBytes(10))
await Effect.runPromise(
  Effect.scoped(
    Effect.gen(function* () {
      const server = yield* Measure.temporaryServer(JSON.parse(process.env.PGSET ?? "{}"))
      const none = { work: () => ({ arm: [], disarm: [], deliveries: [] }), usage: () => [] }
      const variants: any = {
        all: {},
        all2: { flights: 2 },
        all3: { flights: 3 },
        all4: { flights: 4 },
        none2: { readModels: [], consequences: none, flights: 2 },
        "no outbox": { consequences: none },
        none: { readModels: [], consequences: none },
        "none+outbox": { readModels: [] },
        "log only": { readModels: [EmailLog.readModel], consequences: none },
        "terms only": { readModels: [EmailLog.terms], consequences: none },
        "subjects only": { readModels: [EmailSubjects.readModel], consequences: none },
      }
      const rows = []
      for (const [name, options] of Object.entries(variants) as any) {
        if (process.env.ONLY && !process.env.ONLY.split(",").includes(name)) continue
        const url = yield* Effect.promise(() => Measure.freshDatabase(server))
        const scope = yield* Scope.make()
        const ctx = yield* Layer.buildWithScope(
          EventStore.layer(options).pipe(Layer.provide(Database.layer({ url, connections: 10 }))),
          scope,
        )
        const store = Context.get(ctx, EventStore)
        let n = 0
        const one = Effect.suspend(() => {
          const m = message()
          n++
          return store.commit(Email, { account_id: account, stream_id: m.id }, () => Result.succeed([m.event]))
        })
        const run = (ms: number) =>
          Effect.gen(function* () {
            const end = performance.now() + ms
            yield* Effect.all(
              Array.from({ length: Number(process.env.FIBERS ?? 64) }, () =>
                Effect.repeat(one, { while: () => performance.now() < end }),
              ),
              { concurrency: "unbounded" },
            )
          })
        yield* run(1500)
        n = 0
        const a = [Cpu.ofProcess(process.pid), Cpu.ofPostgres(server.pid), performance.now()]
        yield* run(3000)
        rows.push([
          name,
          String(Math.round((n * 1000) / (performance.now() - a[2]!))),
          String(Math.round(((Cpu.ofProcess(process.pid) - a[0]!) * 1000) / n)),
          String(Math.round(((Cpu.ofPostgres(server.pid) - a[1]!) * 1000) / n)),
        ])
        yield* Scope.close(scope, Exit.void)
      }
      if (process.env.PGLOG) {
        const t = (yield* Effect.promise(() => import("node:fs"))).readFileSync(server.logFile, "utf8")
        ;(yield* Effect.promise(() => import("node:fs"))).writeFileSync("/tmp/pg.log", t)
      }
      console.log(Measure.table(["", "a second", "node us", "pg us"], rows as any))
    }),
  ).pipe(Effect.provideService(References.TracerEnabled, false)) as any,
)
