import { Effect } from "effect"
import { Command } from "effect/cli"
export const start = Command.make("start", {}, () => Effect.void)
