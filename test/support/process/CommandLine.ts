import * as NodeServices from "@effect/platform-node/NodeServices"
import { ConfigProvider, Console, Effect, Exit, Layer, Redacted } from "effect"
import { Command } from "effect/cli"
import * as cli from "../../../apps/server/src/cli/Output.ts"
import { waybill } from "../../../apps/server/src/cli/waybill.ts"
import * as Database from "../postgres/Database.ts"

/** Runs a command of `waybill` on a database in this process, and returns its output. */
export const typeOn = Effect.fnUntraced(function* ({ url }: Database.Database, ...args: ReadonlyArray<string>) {
  const env = ConfigProvider.fromUnknown({ DATABASE_URL: Redacted.value(url), WAYBILL_DATA: "/nowhere" })
  const printed: Array<string> = []
  const log = (...words: ReadonlyArray<unknown>) => void printed.push(words.join(" "))
  const exit = yield* Command.runWith(waybill, { version: "0" })(args).pipe(
    Effect.provide(Layer.merge(NodeServices.layer, ConfigProvider.layer(env))),
    Effect.provideService(Console.Console, { ...cli.guarded(globalThis.console), log }),
    Effect.exit,
  )
  return { exit, output: printed.join("\n") }
})

/** Runs a command on the test's own database. */
export const type = (...args: ReadonlyArray<string>) =>
  Effect.flatMap(Database.Fresh, (database) => typeOn(database, ...args))

/** Runs a command with `--json`, which must succeed, and returns the parsed output. */
export const typed = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
  const { exit, output } = yield* type(...args, "--json")
  if (Exit.isFailure(exit)) return yield* Effect.failCause(exit.cause).pipe(Effect.orDie)
  // Tests read output of every kind.
  // oxlint-disable-next-line typescript/no-explicit-any
  const printed: any = JSON.parse(output)
  return printed
})
