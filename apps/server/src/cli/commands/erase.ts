import * as Address from "@waybill/domain/values/Address"
import * as Erase from "@waybill/store/erasure/Erase"
import * as Mask from "@waybill/store/erasure/Mask"
import { Data, Effect, Runtime } from "effect"
import { Argument, Command } from "effect/cli"
import { SecureRandom } from "effect/crypto"
import { EXIT_DIFFERENCE } from "../exitCodes.ts"
import * as output from "../output.ts"
import { withStore } from "../CliStore.ts"

const STAND_IN_BYTES = 8

class StillThere extends Data.TaggedError("StillThere")<{ readonly message: string }> {
  override readonly [Runtime.errorExitCode] = EXIT_DIFFERENCE
}

export const erase = Command.make(
  "erase",
  {
    address: Argument.String("address").pipe(
      Argument.withDescription("Whose address"),
      Argument.withSchema(Address.FromText),
    ),
    json: output.json,
  },
  Effect.fn(function* ({ address, json }) {
    const erased_as = Mask.standIn(SecureRandom.randomBytesUnsafe(STAND_IN_BYTES))
    const { accounts, left } = yield* Erase.erase(address, erased_as)
    let streams = 0
    let events = 0
    for (const counts of accounts.values()) {
      streams += counts.streams
      events += counts.events
    }
    if (json) yield* output.printJson({ erased_as, streams, events, left })
    else {
      yield* output.say(`${events} events of ${streams} histories now say ${erased_as}.`)
      for (const { account_id, stream, stream_id, why } of left)
        yield* output.say(`left: ${stream} ${stream_id} of ${account_id}, ${why}`)
    }
    if (left.length > 0)
      return yield* new StillThere({ message: `the address still stands in ${left.length} histories` })
  }),
).pipe(
  Command.withDescription("Take a person's address out of the log, what is shown of it, and contents, for good"),
  Command.provide(withStore),
)
