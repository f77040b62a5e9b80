import { Secrets } from "@waybill/store/secrets/Secrets"
import { Command } from "effect/cli"
import { CheckDiffers } from "../../process/CommandRefused.ts"
import * as CellsLeftOut from "../CellsLeftOut.ts"
import * as DataCommand from "../DataCommand.ts"
import * as Output from "../Output.ts"
import * as CliStore from "../CliStore.ts"

const rotate = DataCommand.command({}, function* ({ json }) {
  const secrets = yield* Secrets
  const { unreachable, ...done } = yield* secrets.rotate
  yield* Output.printOne({ ...done, ...(json && unreachable.length > 0 ? { unreachable } : {}) }, { json })
  if (done.unreadable > 0) {
    const message = `${done.unreadable} secrets are sealed under a key that is not configured here.`
    return yield* new CheckDiffers({ message: CellsLeftOut.after(message, unreachable) })
  }
  yield* CellsLeftOut.refuse(unreachable)
})

export const secrets = DataCommand.group({
  rotate: ["Seal all secrets again under the first instance key", rotate],
}).with(Command.provide(CliStore.sealed))
