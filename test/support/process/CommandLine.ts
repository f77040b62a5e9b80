import * as NodeServices from "@effect/platform-node/NodeServices"
import {
  Cause,
  ConfigProvider,
  Console,
  Effect,
  Exit,
  Fiber,
  Layer,
  Option,
  Queue,
  Redacted,
  Runtime,
  Terminal,
} from "effect"
import { IsInteractive } from "../../../apps/server/src/cli/IsInteractive.ts"
import * as cli from "../../../apps/server/src/cli/Output.ts"
import { StandardInput } from "../../../apps/server/src/cli/StandardInput.ts"
import { runCommand } from "../../../apps/server/src/boot/runCommand.ts"
import * as Database from "../postgres/Database.ts"
import { NOWHERE } from "../nowhere.ts"
import { asService } from "../cells/testCell.ts"

type Env = Readonly<Record<string, string>>

const NOBODY = Layer.succeed(IsInteractive, false)

/** A person who answers with these keys. What is asked is among what is printed. */
const personWith = (keys: ReadonlyArray<string>, printed: Array<string>) =>
  Layer.merge(
    Layer.succeed(IsInteractive, true),
    Layer.succeed(
      Terminal.Terminal,
      Terminal.make({
        columns: Effect.succeed(80),
        rows: Effect.succeed(25),
        size: Effect.die("a prompt does not watch the size"),
        readInput: Effect.gen(function* () {
          const queue = yield* Queue.make<Terminal.UserInput, Cause.Done>()
          for (const name of keys) {
            const key = { name, ctrl: false, meta: false, shift: false }
            yield* Queue.offer(queue, { input: Option.some(name), key })
          }
          return queue
        }),
        readLine: Effect.die("a prompt reads keys"),
        display: (text) => Effect.sync(() => void printed.push(text)),
      }),
    ),
  )

const run = (
  env: Env,
  words: ReadonlyArray<string>,
  printed: Array<string>,
  errors: Array<string>,
  person: Layer.Layer<Terminal.Terminal> | Layer.Layer<never> = NOBODY,
  input = "",
) => {
  const log = (...parts: ReadonlyArray<unknown>) => void printed.push(parts.join(" "))
  const error = (...parts: ReadonlyArray<unknown>) => void errors.push(parts.join(" "))
  return runCommand(words).pipe(
    asService,
    Effect.provide(person),
    Effect.provideService(StandardInput, () => Promise.resolve(input)),
    Effect.provide(Layer.merge(NodeServices.layer, ConfigProvider.layer(ConfigProvider.fromUnknown(env)))),
    Effect.provideService(Console.Console, { ...cli.guarded({ ...globalThis.console, log, error }) }),
    Effect.exit,
  )
}

/** Runs a command of `waybill` in this process with an environment, and returns its output and its errors. */
export const typeWith = Effect.fnUntraced(function* (env: Env, ...words: ReadonlyArray<string>) {
  const printed: Array<string> = []
  const errors: Array<string> = []
  const exit = yield* run(env, words, printed, errors)
  return { exit, output: printed.join("\n"), errors: errors.join("\n") }
})

/** Runs a command with this text on its standard input. */
export const typeInto = Effect.fnUntraced(function* (env: Env, input: string, ...words: ReadonlyArray<string>) {
  const printed: Array<string> = []
  const errors: Array<string> = []
  const exit = yield* run(env, words, printed, errors, NOBODY, input)
  return { exit, output: printed.join("\n"), errors: errors.join("\n") }
})

/** Runs a command on the test's own database for a person who answers with these keys. */
export const typeAndAnswer = Effect.fnUntraced(function* (
  keys: ReadonlyArray<string>,
  ...words: ReadonlyArray<string>
) {
  const { url } = yield* Database.Fresh
  const env = { DATABASE_URL: Redacted.value(url), WAYBILL_DATA: NOWHERE }
  const printed: Array<string> = []
  const errors: Array<string> = []
  const exit = yield* run(env, words, printed, errors, personWith(keys, printed))
  return { exit, output: printed.join("\n"), errors: errors.join("\n") }
})

/** Starts a command that runs until it is stopped, and returns what it has printed so far. */
export const start = Effect.fnUntraced(function* (env: Env, ...words: ReadonlyArray<string>) {
  const printed: Array<string> = []
  const errors: Array<string> = []
  const fiber = yield* Effect.forkScoped(run(env, words, printed, errors))
  return { printed, errors, ended: Fiber.join(fiber), stop: Fiber.interrupt(fiber) }
})

/** Runs a command of `waybill` on a database in this process, and returns its output. */
export const typeOn = ({ url }: Database.Database, ...words: ReadonlyArray<string>) =>
  typeWith({ DATABASE_URL: Redacted.value(url), WAYBILL_DATA: NOWHERE }, ...words)

/** Runs a command on the test's own database. */
export const type = (...args: ReadonlyArray<string>) =>
  Effect.flatMap(Database.Fresh, (database) => typeOn(database, ...args))

/**
 * Runs a command on the test's own database and returns the code and the output that a process has, which takes nearly a second
 * of processor time to start.
 */
export const toEnd = (...args: ReadonlyArray<string>) =>
  Effect.map(type(...args), ({ errors, exit, output }) => ({
    code: codeOf(exit),
    output: [output, errors].filter((text) => text !== "").join("\n"),
  }))

/** Runs a command with `--json`, which must succeed, and returns the parsed output. */
export const typed = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
  const { exit, output } = yield* type(...args, "--json")
  if (Exit.isFailure(exit)) return yield* Effect.failCause(exit.cause).pipe(Effect.orDie)
  // Tests read output of every kind.
  // oxlint-disable-next-line typescript/no-explicit-any
  const printed: any = JSON.parse(output)
  return printed
})

/** Returns the code that a process ends with. */
export const codeOf = (exit: Exit.Exit<unknown, unknown>): number =>
  Exit.isSuccess(exit) ? 0 : Runtime.getErrorExitCode(Cause.squash(exit.cause))
