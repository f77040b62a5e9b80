import * as Address from "@waybill/domain/values/Address"
import * as Erase from "@waybill/store/erasure/Erase"
import * as Mask from "@waybill/store/erasure/Mask"
import { Effect } from "effect"
import { Argument, Command, Prompt } from "effect/cli"
import { SecureRandom } from "effect/crypto"
import { CheckDiffers, CommandRefused } from "../../process/CommandRefused.ts"
import * as CellsLeftOut from "../CellsLeftOut.ts"
import * as Options from "../Options.ts"
import * as DataCommand from "../DataCommand.ts"
import * as Output from "../Output.ts"
import * as CliStore from "../CliStore.ts"
import { IsInteractive } from "../IsInteractive.ts"

const STAND_IN_BYTES = 8

const count = (histories: number): string => (histories === 1 ? "1 history" : `${histories} histories`)

/** Says what would be erased, and returns the databases that could not be searched. */
const preview = Effect.fnUntraced(function* (address: Address.Address, json: boolean) {
  const { changeable, kept, unreachable } = yield* Erase.find(address)
  const kinds = [...Map.groupBy(changeable, ({ stream }) => stream)].map(([kind, each]) => ({
    kind,
    histories: each.length,
    accounts: new Set(each.map(({ account_id }) => account_id)).size,
  }))
  const remaining = kept.map(({ account_id, stream, stream_id }) => ({ account_id, stream, stream_id }))
  if (json) {
    const left = unreachable.length === 0 ? {} : { unreachable }
    yield* Output.printJson({ dry_run: true, histories: kinds, remaining, ...left })
    return unreachable
  }
  yield* Output.say(`${address} would be replaced in ${count(changeable.length)}, and their contents removed.`)
  if (kinds.length > 0) yield* Output.print(kinds, { json, columns: ["kind", "histories", "accounts"] })
  for (const { account_id, stream, stream_id } of remaining)
    yield* Output.say(`would remain: ${stream} ${stream_id} of ${account_id}, to be changed by the account itself`)
  return unreachable
})

/** Asks before the address is erased. A script confirms with `--yes`, since nobody answers there. */
const confirm = Effect.fnUntraced(function* (address: Address.Address) {
  if (!(yield* IsInteractive))
    return yield* new CommandRefused({
      message: "Erasing cannot be undone. Confirm with --yes, or use --dry-run to see what would be erased.",
    })
  const unreachable = yield* preview(address, false)
  if (unreachable.length > 0) yield* Output.say(CellsLeftOut.describe(unreachable))
  const message = `Erase ${address}? This cannot be undone.`
  if (!(yield* Prompt.run(Prompt.Confirm({ message, initial: false }))))
    return yield* new CommandRefused({ message: "Nothing was erased." })
})

export const erase = DataCommand.command(
  {
    address: Options.argument("address", "Email address to erase").pipe(Argument.withSchema(Address.FromText)),
    dryRun: Options.isSet("dry-run", "Only show what would be erased"),
    yes: Options.isSet("yes", "Erase without asking"),
  },
  function* ({ address, dryRun, json, yes }) {
    if (dryRun) return yield* CellsLeftOut.refuse(yield* preview(address, json))
    if (!yes) yield* confirm(address)
    const erased_as = Mask.replacement(SecureRandom.randomBytesUnsafe(STAND_IN_BYTES))
    const { accounts, refused, remaining, unreachable } = yield* Erase.erase(address, erased_as)
    let streams = 0
    let events = 0
    for (const counts of accounts.values()) {
      streams += counts.streams
      events += counts.events
    }
    const left = {
      ...(unreachable.length === 0 ? {} : { unreachable }),
      ...(refused.length === 0 ? {} : { refused }),
    }
    if (json) yield* Output.printJson({ erased_as, streams, events, remaining, ...left })
    else {
      yield* Output.say(`Replaced the address by ${erased_as} in ${events} events of ${count(streams)}.`)
      for (const { account_id, stream, stream_id, why } of remaining)
        yield* Output.say(`remaining: ${stream} ${stream_id} of ${account_id}, ${why}`)
    }
    if (remaining.length > 0) {
      const message = `The address remains in ${count(remaining.length)}.`
      return yield* new CheckDiffers({ message: CellsLeftOut.after(message, unreachable, refused) })
    }
    yield* CellsLeftOut.refuse(unreachable, refused)
  },
).with(Command.provide(CliStore.layer))
