import { Effect } from "effect"
import { Command } from "effect/cli"
import * as Settings from "../../boot/Settings.ts"
import * as output from "../output.ts"

export const config = Command.make(
  "config",
  { json: output.json },
  Effect.fn(function* ({ json }) {
    const rows = yield* Settings.describe
    yield* output.print(rows, { json, columns: ["name", "value", "default", "meaning"] })
    // Shown first and checked then, so that a wrong value stands beside its complaint.
    yield* Settings.load
  }),
).pipe(Command.withDescription("List every setting with its value, its default and its meaning"))
