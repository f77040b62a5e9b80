import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, Console, Effect, Exit, Runtime } from "effect"
import * as Output from "../cli/Output.ts"
import { runCommand } from "./runCommand.ts"

const program = runCommand(process.argv.slice(2)).pipe(Effect.provide(NodeServices.layer), (running) =>
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
