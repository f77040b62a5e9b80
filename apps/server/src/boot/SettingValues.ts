import * as Network from "@waybill/domain/values/Network"
import { Config, ConfigProvider, Effect, Option, Schema } from "effect"

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

/** Paths are written behind it, and behind a `?` or a `#` they would be none. */
export const HttpAddress = (name: string) =>
  Config.schema(
    Schema.String.check(
      Schema.makeFilter((text) => /^https?:\/\/[^/?#][^?#]*$/u.test(text) && URL.canParse(text), {
        expected: "an address that begins with http:// or https://, and has no ? or # in it",
      }),
    ),
    name,
  )

export const NetworksIfSet = (name: string) =>
  Config.option(Config.String(name)).pipe(
    Config.mapEffect((text) =>
      Option.match(text, {
        onNone: () => Effect.succeedNone,
        onSome: (list) => (list.trim() === "none" ? Effect.succeedSome([]) : Effect.asSome(Networks(name))),
      }),
    ),
  )
