import * as FeedCursor from "@waybill/store/exports/FeedCursor"
import * as InstanceFeed from "@waybill/store/exports/InstanceFeed"
import * as LogFile from "@waybill/store/exports/LogFile"
import { Duration, Effect, Option } from "effect"
import { Command } from "effect/cli"
import { CommandRefused } from "../../process/CommandRefused.ts"
import * as CellsLeftOut from "../CellsLeftOut.ts"
import * as DataCommand from "../DataCommand.ts"
import * as CliStore from "../CliStore.ts"
import * as Options from "../Options.ts"
import * as Output from "../Output.ts"

/** Pause at the end of the log. */
const LOOK_EVERY = Duration.millis(500)

const cursorOf = (after: Option.Option<string>) => {
  const cursor = Option.isNone(after) ? FeedCursor.START : FeedCursor.fromText(after.value)
  return cursor === undefined
    ? Effect.fail(new CommandRefused({ message: "--after takes the cursor of the last line that was read" }))
    : Effect.succeed(cursor)
}

/** Follows the events of all accounts over all cells, and prints after each page the cursor from which it can be continued. */
export const follow = DataCommand.plain(
  {
    after: Options.text("after", "Continue after this cursor; without it, from the first event"),
    once: Options.isSet("once", "Stop at the present end of the log"),
  },
  function* ({ after, once }) {
    let cursor = yield* cursorOf(after)
    let named = ""
    for (;;) {
      const { cursor: next, events, missing, more } = yield* InstanceFeed.read(cursor)
      for (const event of events) yield* Output.printJson({ event: LogFile.entryOf(event) })
      if (events.length > 0 || (once && !more)) yield* Output.printJson({ cursor: FeedCursor.toText(next) })
      cursor = next
      if (once && !more) return yield* CellsLeftOut.refuse(missing)
      if (missing.join() !== named && missing.length > 0)
        yield* Effect.logWarning("cells do not answer; their events come later", { cells: missing.join(", ") })
      named = missing.join()
      if (!more) yield* Effect.sleep(LOOK_EVERY)
    }
  },
).with(Command.provide(CliStore.layer))
