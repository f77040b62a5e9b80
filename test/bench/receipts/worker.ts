// Builds and signs the log of a database, as a worker does.
import "effect/schema/SchemaJITCompiler/enable"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as LogKeys from "@waybill/store/transparency/LogKeys"
import { Effect, Redacted } from "effect"
import { followLogTree } from "../../../apps/server/src/worker/periodic/followLogTree.ts"
import * as World from "../../support/world/World.ts"
import { BASE_URL } from "./build.ts"

const run = Effect.gen(function* () {
  yield* followLogTree(BASE_URL, yield* LogKeys.makeSigners)
  // Says that it has started, as a server does by its port.
  process.stdout.write("0\n")
  return yield* Effect.never
})

NodeRuntime.runMain(
  run.pipe(Effect.scoped, Effect.provide(World.services(Redacted.make(process.env["DATABASE_URL"] ?? "")))),
)
