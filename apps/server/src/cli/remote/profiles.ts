import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import * as Output from "../Output.ts"
import * as Credentials from "./Credentials.ts"

const name = Argument.String("name").pipe(Argument.withDescription("Name of a profile"))

const list = Command.make(
  "list",
  { json: Output.json },
  Effect.fn(function* ({ json }) {
    const { current, profiles } = yield* Credentials.stored
    const rows = Object.entries(profiles).map(([profile, { url }]) => ({ profile, url, current: profile === current }))
    yield* Output.print(rows, { json, columns: ["profile", "url", "current"] })
  }),
).pipe(Command.withDescription("List the instances whose keys are stored"))

const use = Command.make(
  "use",
  { name, json: Output.json },
  Effect.fn(function* ({ json, name }) {
    const file = yield* Credentials.use(name)
    yield* json
      ? Output.printJson({ file, profile: name })
      : Output.say(`Commands use the profile ${name} from now on.`)
  }),
).pipe(Command.withDescription("Use the instance and the key of a profile from now on"))

export const profiles = Command.make("profiles").pipe(
  Command.withDescription("Instances and keys that `login --profile` stored"),
  Command.withSubcommands([list, use]),
)
