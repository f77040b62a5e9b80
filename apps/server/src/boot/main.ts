import "effect/schema/SchemaJITCompiler/enable"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, Console, Effect, Exit, Runtime } from "effect"
import { Command } from "effect/cli"
import * as Output from "../cli/Output.ts"
import { waybill } from "../cli/waybill.ts"
import * as Version from "./Version.ts"

const program = waybill.pipe(
  Command.run({ version: Version.VERSION }),
  // A known error is printed as a message; only a bug prints a stack.
  Effect.tapCause((cause) => {
    const error = Cause.findErrorOption(cause)
    if (error._tag === "None")
      return Cause.hasInterruptsOnly(cause) ? Effect.void : Output.complain(Cause.pretty(cause))
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
