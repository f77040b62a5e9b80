// A node that calls webhooks until it is killed: tests start it as a process of its own.
import { Effect, Layer, Redacted } from "effect"
import * as World from "../../support/world/World.ts"
import * as Webhooks from "../../support/web/Webhooks.ts"

const [url = ""] = process.argv.slice(2)
const database = Redacted.make(url)

await Effect.runPromise(Layer.launch(Webhooks.worker(database).pipe(Layer.provide(World.services(database)))))
