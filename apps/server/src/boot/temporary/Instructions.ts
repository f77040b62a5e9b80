import * as Script from "@waybill/domain/email/Script"
import { Effect, Result, Schema } from "effect"
import { createInterface } from "node:readline"
import * as Output from "../../cli/Output.ts"

/** Sets the answers of servers to mail to an address: one step for each attempt. No steps end it. */
const Instruction = Schema.fromJsonString(
  Schema.Struct({ script: Schema.Struct({ address: Schema.NonEmptyString, steps: Schema.Array(Schema.String) }) }),
)
const decode = Schema.decodeUnknownResult(Instruction, { onExcessProperty: "error" })

/** Scripts by address, which instructions change. */
export type Scripts = Map<string, Script.Script>

type Answer =
  | { readonly object: "script"; readonly address: string; readonly steps: number }
  | { readonly object: "error"; readonly message: string }

const refused = (message: string): Answer => ({ object: "error", message })

/** Follows one line of standard input, and returns the line that answers it. */
export const follow = (scripts: Scripts, line: string): Answer => {
  const read = decode(line)
  if (Result.isFailure(read)) return refused(`An instruction cannot be read: ${read.failure.message}`)
  const { address, steps } = read.success.script
  const key = address.toLowerCase()
  if (steps.length === 0) scripts.delete(key)
  else {
    const script = Script.parse(steps.join(";"))
    if (Result.isFailure(script)) return refused(`The script ${script.failure}.`)
    scripts.set(key, script.success)
  }
  return { object: "script", address, steps: steps.length }
}

/**
 * Follows the instructions on standard input, and stops this process at its end. It ends with the process that holds its other
 * end, even if that is killed.
 */
export const listen = (scripts: Scripts) =>
  Effect.gen(function* () {
    const print = Effect.runSyncWith(yield* Effect.context())
    const stop = () => void process.kill(process.pid, "SIGTERM")
    process.stdin.once("error", stop)
    createInterface(process.stdin)
      .on("line", (line) => print(Output.printJson(follow(scripts, line))))
      .once("close", stop)
  })
