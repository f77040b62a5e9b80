import * as Network from "@waybill/domain/values/Network"
import { Config, ConfigProvider, Effect, Option, Redacted, Schema } from "effect"

/** A setting of the service, read from an environment variable. */
export interface Setting<A> {
  readonly name: string
  /** Description for `waybill config` and docs/configuration.md. */
  readonly meaning: string
  /** The default as it is documented; `null` if the setting is off when unset. */
  readonly fallback: string | null
  readonly secret: boolean
  readonly config: Config.Config<A>
}

export const setting = <A>(
  name: string,
  meaning: string,
  fallback: string | null,
  config: Config.Config<A>,
  secret = false,
): Setting<A> => ({ name, meaning, fallback, secret, config })

/** A secret that is tested when it is read. `problemOf` says what is wrong with a text without quoting it. */
export const Checked = (name: string, problemOf: (text: string) => string | undefined) =>
  Config.Redacted(name).pipe(
    Config.mapEffect((secret) => {
      const message = problemOf(Redacted.value(secret))
      return message === undefined
        ? Effect.succeed(secret)
        : Effect.fail(new Config.ConfigError(new ConfigProvider.SourceError({ message })))
    }),
  )

export const CommaList = (name: string) =>
  Config.String(name).pipe(
    Config.withDefault(""),
    Config.map((text) =>
      text
        .split(",")
        .map((part) => part.trim())
        .filter((part) => part !== ""),
    ),
  )

export const ListOf = <A>(name: string, item: Schema.Codec<A, string>) =>
  CommaList(name).pipe(
    Config.mapEffect((list) =>
      Schema.decodeUnknownEffect(Schema.Array(item))(list).pipe(
        Effect.mapError((error) => new Config.ConfigError(new ConfigProvider.SourceError({ message: error.message }))),
      ),
    ),
  )
export const Networks = (name: string) => ListOf(name, Network.FromText)

export const Count = (name: string, fallback: number) =>
  Config.schema(Schema.Int.check(Schema.isBetween({ minimum: 10, maximum: 100_000 })), name).pipe(
    Config.withDefault(fallback),
  )

/**
 * A base address. Paths are appended to it, so it must not contain `?` or `#`. It is printed and sent to clients, so it must
 * not contain a password.
 */
export const HttpAddress = (name: string) =>
  Config.schema(
    Schema.String.check(
      Schema.makeFilter((text) => /^https?:\/\/[^/?#][^?#]*$/u.test(text) && URL.canParse(text) && !hasUser(text), {
        expected: "an address that begins with http:// or https://, and has no user name, password, ? or # in it",
      }),
    ),
    name,
  )

const hasUser = (address: string): boolean => {
  const { password, username } = new URL(address)
  return username !== "" || password !== ""
}

export const NetworksIfSet = (name: string) =>
  Config.option(Config.String(name)).pipe(
    Config.mapEffect((text) =>
      Option.match(text, {
        onNone: () => Effect.succeedNone,
        onSome: (list) => (list.trim() === "none" ? Effect.succeedSome([]) : Effect.asSome(Networks(name))),
      }),
    ),
  )
