import * as Address from "@waybill/domain/values/Address"
import * as Erase from "@waybill/store/erasure/Erase"
import * as Mask from "@waybill/store/erasure/Mask"
import { Data, Effect, Runtime } from "effect"
import { Argument, Command } from "effect/cli"
import { SecureRandom } from "effect/crypto"
import * as ExitCodes from "../ExitCodes.ts"
import * as Output from "../Output.ts"
import * as CliStore from "../CliStore.ts"

const STAND_IN_BYTES = 8

class AddressRemains extends Data.TaggedError("AddressRemains")<{ readonly message: string }> {
  override readonly [Runtime.errorExitCode] = ExitCodes.EXIT_DIFFERENCE
}

export const erase = Command.make(
  "erase",
  {
    address: Argument.String("address").pipe(
      Argument.withDescription("Email address to erase"),
      Argument.withSchema(Address.FromText),
    ),
    json: Output.json,
  },
  Effect.fn(function* ({ address, json }) {
    const erased_as = Mask.replacement(SecureRandom.randomBytesUnsafe(STAND_IN_BYTES))
    const { accounts, remaining } = yield* Erase.erase(address, erased_as)
    let streams = 0
    let events = 0
    for (const counts of accounts.values()) {
      streams += counts.streams
      events += counts.events
    }
    if (json) yield* Output.printJson({ erased_as, streams, events, remaining })
    else {
      yield* Output.say(`Replaced the address by ${erased_as} in ${events} events of ${streams} histories.`)
      for (const { account_id, stream, stream_id, why } of remaining)
        yield* Output.say(`remaining: ${stream} ${stream_id} of ${account_id}, ${why}`)
    }
    if (remaining.length > 0)
      return yield* new AddressRemains({ message: `The address remains in ${remaining.length} histories.` })
  }),
).pipe(
  Command.withDescription("Erase an address from the log, read models and contents permanently"),
  Command.provide(CliStore.layer),
)
