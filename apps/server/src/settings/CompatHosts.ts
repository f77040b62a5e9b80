import { Config, ConfigProvider, Effect, Schema } from "effect"
import { CommaList } from "./Setting.ts"

/** The services for which this one stands. */
export const DOOR_NAMES = ["resend", "postmark", "sendgrid"] as const
export type DoorName = (typeof DOOR_NAMES)[number]

/** Host names under which this service stands for another one each. */
export type CompatHosts = ReadonlyMap<string, DoorName>

const PATTERN = /^([a-z0-9-]+(?:\.[a-z0-9-]+)*)=(\w+)$/u
const isDoorName = Schema.is(Schema.Literals(DOOR_NAMES))

/** Reads a list such as `mail.example.com=resend,post.example.com=postmark`. */
export const config = (name: string): Config.Config<CompatHosts> =>
  CommaList(name).pipe(
    Config.mapEffect((entries) =>
      Effect.forEach(entries, (entry) => {
        const [, host = "", service = ""] = PATTERN.exec(entry.toLowerCase()) ?? []
        return isDoorName(service)
          ? Effect.succeed([host, service] as const)
          : Effect.fail(new Config.ConfigError(new ConfigProvider.SourceError({ message: problemOf(entry) })))
      }),
    ),
    Config.map((entries) => new Map(entries)),
  )

const problemOf = (entry: string): string =>
  `"${entry}" must be a host name and one of ${DOOR_NAMES.join(", ")}, such as mail.example.com=resend`
