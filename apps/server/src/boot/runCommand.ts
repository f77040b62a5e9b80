import { Cause, Effect } from "effect"
import { CliConfig, CliOutput, Command, GlobalFlag } from "effect/cli"
import * as Version from "../process/Version.ts"
import * as Output from "../cli/Output.ts"
import { presenter } from "../cli/presenter.ts"
import { withoutHelp } from "../cli/withoutHelp.ts"

/** Commands over the HTTP API. They are loaded without those that need the code of the service, to start fast. */
export const REMOTE: ReadonlySet<string> = new Set([
  "login",
  "logout",
  "whoami",
  "profiles",
  "send",
  "emails",
  "receipt",
  "logs",
  "stats",
  "domains",
  "webhooks",
  "suppressions",
  "requests",
  "audit-log",
  "inbound",
  "templates",
  "listen",
  "trigger",
  "mcp",
])

const config = { version: Version.VERSION }

/** Runs a command and prints its error. */
export const runCommand = Effect.fnUntraced(
  function* (words: ReadonlyArray<string>) {
    if (REMOTE.has(words[0] ?? "")) {
      const { remote } = yield* Effect.promise(() => import("./Tree.ts"))
      return yield* Command.runWith(remote, config)(withoutHelp(remote, words))
    }
    if (words[0] === "temporary") {
      const { temporary } = yield* Effect.promise(() => import("./temporary/temporary.ts"))
      const waybill = Command.make("waybill").pipe(Command.withSubcommands([temporary]))
      return yield* Command.runWith(waybill, config)(words)
    }
    // Speeds up decoding in the service. Loaded before the schemas.
    yield* Effect.promise(() => import("effect/schema/SchemaJITCompiler/enable"))
    const { waybill } = yield* Effect.promise(() => import("./waybill.ts"))
    yield* Command.runWith(waybill, config)(withoutHelp(waybill, words))
  },
  Effect.tapCause((cause) =>
    Effect.suspend(() => {
      const line = described(cause)
      return line === "" ? Effect.void : Output.complain(line)
    }),
  ),
  Effect.provideService(CliOutput.Presenter, presenter),
  // A help page begins with these, and nobody logs by them.
  Effect.provideService(
    CliConfig.CliConfig,
    CliConfig.make({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] }),
  ),
)

/** Returns what is printed about a failure: the message of a known error, and a stack only for a bug. */
const described = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.findErrorOption(cause)
  if (error._tag === "None") return Cause.hasInterruptsOnly(cause) ? "" : Cause.pretty(cause)
  const known = error.value as Error & { readonly _tag?: string; readonly isConnectionLost?: boolean }
  // Usage errors were printed by the presenter.
  if (known._tag === "ShowHelp") return ""
  return `waybill: ${isLost(known) ? LOST : ""}${known.message === "" ? Cause.pretty(cause) : known.message}`
}

const LOST = "the connection to the database was lost: "

/** Whether the store cannot be used (`StoreUnavailable`, whose module most commands do not load), and the cause says why. */
const isLost = (error: Error & { readonly _tag?: string; readonly isConnectionLost?: boolean }): boolean =>
  error._tag === "StoreUnavailable" && error.isConnectionLost === true && error.cause !== undefined
