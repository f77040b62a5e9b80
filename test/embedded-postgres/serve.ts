import * as EmbeddedPostgres from "@waybill/embedded-postgres/EmbeddedPostgres"
import { Effect, Exit, Redacted, Scope } from "effect"

/** A program of its own around one server, for tests that kill it: takes the options as JSON, answers with a line. */
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
// Before the answer: whoever reads it may ask for the end at once.
process.once("SIGTERM", () => void Effect.runPromise(Scope.close(scope, Exit.void)).then(() => process.exit(0)))
process.stdout.write(`${JSON.stringify(answer)}\n`)
if (Exit.isFailure(exit)) process.exit(1)
// The server alone does not keep a program running.
setInterval(() => undefined, 60_000)
