// Rebuild with a throttle in a process of its own, as an operator's command runs it, until it is stopped.
import "effect/schema/SchemaJITCompiler/enable"
import * as Rebuild from "@waybill/store/rebuild/Rebuild"
import { Replay } from "@waybill/store/rebuild/versions/Replay"
import { Effect, Redacted } from "effect"
import { constants, setPriority } from "node:os"

setPriority(constants.priority.PRIORITY_LOW)

const url = Redacted.make(process.env["DATABASE_URL"] ?? "")
const options = {
  release: "bench",
  throttle: Number(process.env["THROTTLE"]),
  // The parent process waits for this line.
  report: ({ events }: Rebuild.Progress) =>
    Effect.sync(() => void process.stdout.write(events > 0 ? `${events}\n` : "")),
}
await Effect.runPromise(Rebuild.rebuild("email_log", options).pipe(Effect.provide(Replay.layer(url))))
