import * as Network from "@waybill/domain/values/Network"
import { Data, Effect, Runtime, Schema } from "effect"
import * as fs from "node:fs/promises"
import { dirname, resolve } from "node:path"
import * as ExitCodes from "../process/ExitCodes.ts"

/** Maximum number of logs of one witness. */
export const MAX_LOGS = 100
const MAX_KEYS = 16
const DEFAULT_FOLLOW_SECONDS = 60
const MAX_FOLLOW_SECONDS = 86_400

const Address = Schema.String.check(
  Schema.makeFilter((text) => /^https?:\/\/[^/?#@]+(?:\/[^?#]*)?$/u.test(text) && URL.canParse(text), {
    expected: "the address of an instance, such as https://mail.example.com",
  }),
)

const Config = Schema.Struct({
  /** Name of the key, usually the address of the witness without https://. */
  name: Schema.String.check(
    Schema.isPattern(/^[^\s+\p{Cc}]{1,255}$/u, { message: "must have no spaces and no plus sign" }),
  ),
  listen: Schema.Struct({
    host: Schema.String,
    port: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 65_535 })),
  }),
  /** Folder of the key and of what was seen, from where the file is. */
  folder: Schema.String,
  follow_seconds: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: MAX_FOLLOW_SECONDS }))),
  allow_networks: Schema.optionalKey(Schema.Array(Network.FromText)),
  logs: Schema.Array(
    Schema.Struct({
      url: Address,
      keys: Schema.optionalKey(Schema.Array(Schema.String).check(Schema.isMaxLength(MAX_KEYS))),
    }),
  ).check(Schema.isMinLength(1), Schema.isMaxLength(MAX_LOGS)),
})
export interface WitnessConfig extends Omit<typeof Config.Type, "follow_seconds" | "allow_networks"> {
  readonly follow_seconds: number
  readonly allow_networks: ReadonlyArray<Network.Network>
}

/** The witness cannot start as it is configured. */
export class WitnessRefused extends Data.TaggedError("WitnessRefused")<{ readonly message: string }> {
  override readonly [Runtime.errorExitCode] = ExitCodes.EXIT_SETTINGS
}

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Config), { onExcessProperty: "error" })

export const read = Effect.fnUntraced(function* (file: string) {
  const text = yield* Effect.tryPromise({
    try: () => fs.readFile(file, "utf8"),
    catch: (cause) => new WitnessRefused({ message: `${file} cannot be read: ${(cause as Error).message}` }),
  })
  const config = yield* Effect.mapError(
    decode(text),
    ({ message }) => new WitnessRefused({ message: `${file} is invalid: ${message.replace(/\s+/gu, " ")}` }),
  )
  const read: WitnessConfig = {
    follow_seconds: DEFAULT_FOLLOW_SECONDS,
    allow_networks: [],
    ...config,
    folder: resolve(dirname(file), config.folder),
  }
  return read
})
