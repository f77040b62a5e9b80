// A process of its own, as an operator's command is: rebuilds with a throttle until it is ended.
import "effect/schema/SchemaJITCompiler/enable"
import * as Rebuild from "@waybill/store/rebuild/Rebuild"
import { Replay } from "@waybill/store/rebuild/Replay"
import { Effect, Redacted } from "effect"
import { constants, setPriority } from "node:os"

setPriority(constants.priority.PRIORITY_LOW)

const url = Redacted.make(process.env["DATABASE_URL"] ?? "")
const options = {
  release: "bench",
  throttle: Number(process.env["THROTTLE"]),
  // The line that whoever started this waits for.
  report: ({ events }: Rebuild.Progress) =>
    Effect.sync(() => void process.stdout.write(events > 0 ? `${events}\n` : "")),
}
await Effect.runPromise(Rebuild.rebuild("email_log", options).pipe(Effect.provide(Replay.layer(url))))
