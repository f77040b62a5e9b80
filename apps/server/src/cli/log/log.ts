import { Secrets } from "@waybill/store/secrets/Secrets"
import * as LogKeys from "@waybill/store/transparency/LogKeys"
import * as SignedNote from "@waybill/store/transparency/SignedNote"
import { Data, Duration, Effect, Layer, Option, Runtime } from "effect"
import { Command, Flag } from "effect/cli"
import * as InstanceKeys from "../../installation/InstanceKeys.ts"
import * as ExitCodes from "../../process/ExitCodes.ts"
import * as Settings from "../../settings/Settings.ts"
import * as CliStore from "../CliStore.ts"
import * as Output from "../Output.ts"
import * as RemoteLog from "./RemoteLog.ts"

class LogDiffers extends Data.TaggedError("LogDiffers")<{ readonly message: string }> {
  override readonly [Runtime.errorExitCode] = ExitCodes.EXIT_DIFFERENCE
}

const verify = Command.make(
  "verify",
  {
    url: Flag.String("url").pipe(
      Flag.withDescription("Address of the instance; by default the one that the settings of this one give"),
      Flag.optional,
    ),
    key: Flag.String("key").pipe(
      Flag.withDescription("Key that must have signed, name+hash+base64; by default those that the instance names"),
      Flag.between(0, 100),
    ),
    json: Output.json,
  },
  Effect.fn(function* ({ json, key, url }) {
    const address = Option.isSome(url) ? url.value : Settings.urlOf(yield* Settings.load)
    const verified = yield* Effect.forEach(yield* RemoteLog.find(address), (log) => RemoteLog.verify(log, key)).pipe(
      Effect.mapError(({ message }) => new LogDiffers({ message })),
    )
    yield* Output.print(verified, { json, columns: ["origin", "size", "root"] })
  }),
).pipe(Command.withDescription("Read all hashes of a log over HTTP and compare them with its signed head"))

const sealed = Secrets.layer.pipe(
  Layer.provideMerge(Layer.unwrap(Effect.map(Settings.load, InstanceKeys.instanceKey))),
  Layer.provideMerge(CliStore.layer),
)

const rotateKey = Command.make(
  "rotate-key",
  {
    overlap: Flag.Int("overlap").pipe(
      Flag.withDescription("Minutes for which the former key signs too; by default seven days"),
      Flag.withDefault(Duration.toMinutes(LogKeys.DEFAULT_OVERLAP)),
    ),
    json: Output.json,
  },
  Effect.fn(function* ({ json, overlap }) {
    const { began_at, public_key } = yield* LogKeys.rotate(Duration.minutes(Math.max(0, overlap)))
    const [former] = (yield* LogKeys.list).slice(-2, -1)
    const key = SignedNote.publicPart(public_key)
    yield* Output.printOne({ key, began_at, former_key_ends_at: former?.ends_at ?? null }, { json })
  }),
).pipe(
  Command.withDescription("Make a new key for the log; the former one signs beside it for a while"),
  Command.provide(sealed),
)

export const log = Command.make("log").pipe(
  Command.withDescription("The signed log that receipts are proved by"),
  Command.withSubcommands([verify, rotateKey]),
)
