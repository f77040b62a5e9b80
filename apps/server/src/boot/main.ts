import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, Console, Effect, Exit, Runtime } from "effect"
import * as Output from "../cli/Output.ts"
import { runCommand } from "./runCommand.ts"

/** Ends the process once a reader that is slow has taken what was written. An exit would cut it at the size of a pipe. */
const afterOutput = (end: () => void) => {
  const streams = [process.stdout, process.stderr]
  let left = streams.length
  const one = () => void (--left === 0 && end())
  // The callback runs also if the reader is gone.
  for (const stream of streams) stream.write("", one)
}

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
      afterOutput(() => done(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause) ? 0 : code)),
    ),
})
