import * as Script from "@waybill/domain/email/Script"
import { Effect, Queue, Result, Schema } from "effect"
import { createInterface } from "node:readline"
import * as Output from "../../cli/Output.ts"
import * as InjectedFaults from "../../requests/InjectedFaults.ts"

/** Maximum number of requests that one instruction lets fail. */
const MAX_FAULTS = 1_000_000

/**
 * Sets the answers of servers to mail to an address, one step for each attempt, where no steps end it; the answer of the next
 * requests that send mail; or the clock to the present time.
 */
const Instruction = Schema.fromJsonString(
  Schema.Union([
    Schema.Struct({ script: Schema.Struct({ address: Schema.NonEmptyString, steps: Schema.Array(Schema.String) }) }),
    Schema.Struct({
      fail: Schema.Struct({
        status: Schema.Literals(InjectedFaults.STATUSES),
        times: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: MAX_FAULTS })),
      }),
    }),
    Schema.Struct({ clock: Schema.Literal("reset") }),
  ]),
)
const decode = Schema.decodeUnknownResult(Instruction, { onExcessProperty: "error" })

/** The parts of the instance that instructions change. */
export interface Controls {
  readonly scripts: Map<string, Script.Script>
  readonly faults: { status: InjectedFaults.Status; left: number }
  /** Sets the clock to the present time, and returns it; undefined before the service is ready. */
  resetClock: Effect.Effect<string> | undefined
}

export const controls = (): Controls => ({
  scripts: new Map(),
  faults: { status: 503, left: 0 },
  resetClock: undefined,
})

type Answer =
  | { readonly object: "script"; readonly address: string; readonly steps: number }
  | { readonly object: "fail"; readonly status: number; readonly times: number }
  | { readonly object: "clock"; readonly now: string }
  | { readonly object: "error"; readonly message: string }

const refused = (message: string): Answer => ({ object: "error", message })

/** Follows one line of standard input, and returns the line that answers it. */
export const follow = Effect.fnUntraced(function* (
  { faults, resetClock, scripts }: Controls,
  line: string,
): Effect.fn.Return<Answer> {
  const read = decode(line)
  if (Result.isFailure(read)) return refused(`An instruction cannot be read: ${read.failure.message}`)
  const instruction = read.success
  if ("clock" in instruction)
    return resetClock === undefined
      ? refused("The instance is not ready.")
      : { object: "clock", now: yield* resetClock }
  if ("fail" in instruction) {
    const { status, times } = instruction.fail
    faults.status = status
    faults.left = times
    return { object: "fail", status, times }
  }
  const { address, steps } = instruction.script
  const key = address.toLowerCase()
  if (steps.length === 0) scripts.delete(key)
  else {
    const script = Script.parse(steps.join(";"))
    if (Result.isFailure(script)) return refused(`The script ${script.failure}.`)
    scripts.set(key, script.success)
  }
  return { object: "script", address, steps: steps.length }
})

/**
 * Follows the instructions on standard input one after the other, and stops this process at its end. It ends with the process
 * that holds its other end, even if that is killed.
 */
export const listen = (controls: Controls) =>
  Effect.gen(function* () {
    const lines = yield* Queue.unbounded<string>()
    yield* Queue.take(lines).pipe(
      Effect.flatMap((line) => follow(controls, line)),
      Effect.flatMap(Output.printJson),
      Effect.forever,
      Effect.forkScoped,
    )
    const stop = () => void process.kill(process.pid, "SIGTERM")
    process.stdin.once("error", stop)
    createInterface(process.stdin)
      .on("line", (line) => Queue.offerUnsafe(lines, line))
      .once("close", stop)
  })
