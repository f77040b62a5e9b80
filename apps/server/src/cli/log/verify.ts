import { Effect, Option } from "effect"
import { type CheckDiffers, CommandRefused } from "../../process/CommandRefused.ts"
import * as Settings from "../../settings/Settings.ts"
import * as Options from "../Options.ts"
import * as Output from "../Output.ts"
import * as DataCommand from "../DataCommand.ts"
import * as RemoteLog from "./RemoteLog.ts"

const UNPINNED =
  "The keys are those that the instance names itself, so whoever controls its address could have made this log. Name a key that you have from elsewhere with --key."

export const verify = DataCommand.list(
  {
    url: Options.text("url", "Address of the instance; by default the one that the settings of this one give"),
    key: Options.several(
      "key",
      "Key that must have signed, name+hash+base64; by default those that the instance names",
      100,
    ),
  },
  ["origin", "size", "root"],
  function* ({ key, url }) {
    const address = Option.isSome(url) ? url.value : Settings.urlOf(yield* Settings.load)
    const refused = ({ message }: CheckDiffers) => new CommandRefused({ message })
    const logs = yield* Effect.mapError(RemoteLog.find(address), refused)
    const verified = yield* Effect.forEach(logs, (log) => RemoteLog.verify(log, key))
    if (key.length === 0) yield* Output.complain(UNPINNED)
    return verified
  },
)
