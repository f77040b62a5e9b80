import * as EmbeddedPostgres from "@waybill/embedded-postgres/server/EmbeddedPostgres"
import { Effect, Exit, Redacted, Scope } from "effect"

/** Runs one server, for tests that kill the program. Takes the options as JSON and prints one line of JSON. */
const scope = Scope.makeUnsafe()
const exit = await Effect.runPromiseExit(
  Scope.provide(EmbeddedPostgres.start(JSON.parse(process.argv[2] ?? "{}")), scope),
)
const answer = Exit.match(exit, {
  onFailure: (cause) => ({ error: String(cause) }),
  onSuccess: (server) => ({
    pid: server.pid,
    url: Redacted.value(server.url),
    socketDir: server.socketDir,
    logFile: server.logFile,
  }),
})
// Installed before the output, because the reader may stop the program at once.
process.once("SIGTERM", () => void Effect.runPromise(Scope.close(scope, Exit.void)).then(() => process.exit(0)))
process.stdout.write(`${JSON.stringify(answer)}\n`)
if (Exit.isFailure(exit)) process.exit(1)
// Keeps the program running; the server alone does not.
setInterval(() => undefined, 60_000)
