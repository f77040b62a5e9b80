import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Layer, Logger, Redacted, References, Runtime } from "effect"
import * as World from "../world/World.ts"

/**
 * Worker in a process of its own, so that a test can kill it: `node workerProcess.ts <database> <port> <connections>`.
 */
const [database = "", port = "", connections = "5"] = process.argv.slice(2)
const url = Redacted.make(database)

const Ready = Layer.effectDiscard(Console.log("ready"))
const Main = Ready.pipe(
  Layer.provideMerge(
    World.worker(url, { relay: World.relay({ host: "127.0.0.1", port: Number(port) }, Number(connections)) }),
  ),
  Layer.provide(World.services(url)),
  Layer.provide(Logger.layer([Logger.withConsoleError(Logger.formatLogFmt)])),
  // Spans are off, as in a service without a collector.
  Layer.provide(Layer.succeed(References.TracerEnabled, false)),
)

NodeRuntime.runMain(Layer.launch(Main), {
  teardown: (exit, done) => Runtime.defaultTeardown(exit, (code) => done(code === 130 ? 0 : code)),
})
