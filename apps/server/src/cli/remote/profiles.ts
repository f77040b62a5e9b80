import * as DataCommand from "../DataCommand.ts"
import * as Output from "../Output.ts"
import * as Credentials from "./Credentials.ts"
import * as Options from "../Options.ts"

const name = Options.argument("name", "Name of a profile")

const list = DataCommand.list(
  {},
  ["profile", "url", "current"],
  function* () {
    const { current, profiles } = yield* Credentials.stored
    const rows = Object.entries(profiles).map(([profile, { url }]) => ({ profile, url, current: profile === current }))
    return rows
  },
  undefined,
  "No profiles yet. `waybill login` stores one.",
)

const use = DataCommand.command({ name }, function* ({ json, name }) {
  const file = yield* Credentials.use(name)
  yield* Output.tell(json, { file, profile: name }, `Commands use the profile ${name} from now on.`)
})

export const profiles = DataCommand.group({
  list: ["List the instances whose keys are stored", list],
  use: ["Use the instance and the key of a profile from now on", use],
})
