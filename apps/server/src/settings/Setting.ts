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

/** A setting that is off when unset. */
export const ifSet = <A>(name: string, meaning: string, configOf: (name: string) => Config.Config<A>) =>
  setting(name, meaning, null, Config.option(configOf(name)))
export const textIfSet = (name: string, meaning: string) => ifSet(name, meaning, Config.String)

/** A secret that is off when unset. It is tested when it is read; `problemOf` says what is wrong with a text without quoting it. */
export const secretIfSet = (
  name: string,
  meaning: string,
  problemOf: (text: string) => string | undefined = () => undefined,
  fallback: string | null = null,
) => {
  const checked = Config.Redacted(name).pipe(
    Config.mapEffect((secret) => {
      const message = problemOf(Redacted.value(secret))
      return message === undefined
        ? Effect.succeed(secret)
        : Effect.fail(new Config.ConfigError(new ConfigProvider.SourceError({ message })))
    }),
  )
  return setting(name, meaning, fallback, Config.option(checked), true)
}

export const text = (name: string, meaning: string, fallback: string) =>
  setting(name, meaning, fallback, Config.String(name).pipe(Config.withDefault(fallback)))

/** A whole number within bounds. */
export const whole = (
  name: string,
  meaning: string,
  fallback: number,
  bounds: { readonly minimum: number; readonly maximum: number },
) => {
  const config = Config.schema(Schema.Int.check(Schema.isBetween(bounds)), name)
  return setting(name, meaning, String(fallback), config.pipe(Config.withDefault(fallback)))
}

/** A setting of something else that is made of what was read. */
export const mapped = <A, B>({ config, ...rest }: Setting<A>, f: (value: A) => B): Setting<B> => ({
  ...rest,
  config: Config.map(config, f),
})

export const port = (name: string, meaning: string, fallback: number) =>
  setting(name, meaning, String(fallback), Config.Port(name).pipe(Config.withDefault(fallback)))

export const onOff = (name: string, meaning: string, fallback: "on" | "off") =>
  setting(
    name,
    meaning,
    fallback,
    Config.Literals(["on", "off"], name).pipe(
      Config.withDefault(fallback),
      Config.map((word) => word === "on"),
    ),
  )

/** Networks, none of them when unset. */
export const networks = (name: string, meaning: string) =>
  setting(name, meaning, "none", ListOf(name, Network.FromText))

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

/** Bounds of a number of connections. */
export const CONNECTIONS = { minimum: 10, maximum: 100_000 }

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
        onSome: (list) =>
          list.trim() === "none" ? Effect.succeedSome([]) : Effect.asSome(ListOf(name, Network.FromText)),
      }),
    ),
  )
