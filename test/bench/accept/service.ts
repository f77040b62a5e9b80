// The service as `waybill start` runs it, without the worker, because the baselines deliver nothing either.
import "effect/schema/SchemaJITCompiler/enable"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Context, Effect, Layer, Logger, Redacted, References } from "effect"
import { HttpServer } from "effect/http"
import * as Service from "../../../apps/server/src/boot/service/Service.ts"
import * as Settings from "../../../apps/server/src/settings/Settings.ts"

const run = Effect.gen(function* () {
  const settings = yield* Settings.load
  const url = Redacted.make(process.env["DATABASE_URL"] ?? "")
  const serving = yield* Layer.build(
    Service.http({ ...settings, port: 0 }, url).pipe(
      Layer.provide([Service.store(settings, url), Service.instance(settings)]),
      Layer.provide(Logger.layer([Logger.consoleJson])),
      Layer.provide(Layer.succeed(References.MinimumLogLevel, settings.logLevel)),
      Layer.provide(Layer.succeed(References.TracerEnabled, false)),
    ),
  )
  const { address } = Context.get(serving, HttpServer.HttpServer)
  process.stdout.write(`${"port" in address ? address.port : ""}\n`)
  return yield* Effect.never
})

NodeRuntime.runMain(Effect.scoped(run))
