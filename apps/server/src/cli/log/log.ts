import { Command } from "effect/cli"
import { rotateKey } from "./rotateKey.ts"
import { verify } from "./verify.ts"

export const log = Command.make("log").pipe(
  Command.withDescription("The signed log that receipts are proved by"),
  Command.withSubcommands([verify, rotateKey]),
)
