import "effect/schema/SchemaJITCompiler/enable"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as SqlErrors from "@waybill/store/postgres/SqlErrors"
import { Cause, Console, Effect, Exit, Runtime } from "effect"
import { Command } from "effect/cli"
import { SqlError } from "effect/sql"
import * as Output from "../cli/Output.ts"
import { waybill } from "../cli/waybill.ts"
import * as Version from "./Version.ts"

/** A database that is lost in the last steps is no bug. */
const lostDatabase = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  return `waybill: ${error instanceof SqlError.SqlError ? "the connection to the database was lost: " : ""}${(error as Error).message}`
}

const program = waybill.pipe(
  Command.run({ version: Version.VERSION }),
  // A known error is printed as a message; only a bug prints a stack.
  Effect.tapCause((cause) => {
    const error = Cause.findErrorOption(cause)
    if (error._tag === "None") {
      if (Cause.hasInterruptsOnly(cause)) return Effect.void
      return Output.complain(SqlErrors.isConnectionLost(cause) ? lostDatabase(cause) : Cause.pretty(cause))
    }
    return "_tag" in error.value && error.value._tag === "ShowHelp"
      ? Effect.void
      : Output.complain(`waybill: ${error.value.message === "" ? Cause.pretty(cause) : error.value.message}`)
  }),
  Effect.provide(NodeServices.layer),
  (running) =>
    Effect.flatMap(Console.Console, (console) =>
      Effect.provideService(running, Console.Console, Output.guarded(console)),
    ),
)

NodeRuntime.runMain(program, {
  disableErrorReporting: true,
  // A stop by signal is regular, so it exits with 0.
  teardown: (exit, done) =>
    Runtime.defaultTeardown(exit, (code) =>
      done(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause) ? 0 : code),
    ),
})
