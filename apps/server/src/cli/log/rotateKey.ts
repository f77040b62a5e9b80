import * as LogKeys from "@waybill/store/transparency/LogKeys"
import * as SignedNote from "@waybill/store/transparency/SignedNote"
import { Duration } from "effect"
import { Command, Flag } from "effect/cli"
import * as CliStore from "../CliStore.ts"
import * as DataCommand from "../DataCommand.ts"

export const rotateKey = DataCommand.record(
  {
    overlap: Flag.Int("overlap").pipe(
      Flag.withDescription("Minutes for which the former key signs too; by default seven days"),
      Flag.withDefault(Duration.toMinutes(LogKeys.DEFAULT_OVERLAP)),
    ),
  },
  function* ({ overlap }) {
    const { began_at, public_key } = yield* LogKeys.rotate(Duration.minutes(Math.max(0, overlap)))
    const [former] = (yield* LogKeys.list).slice(-2, -1)
    const key = SignedNote.publicPart(public_key)
    return { key, began_at, former_key_ends_at: former?.ends_at ?? null }
  },
).with(Command.provide(CliStore.sealed))
