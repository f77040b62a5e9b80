import { nearestName } from "@waybill/domain/values/nearestName"
import { Config, ConfigProvider, Data, Effect, Option, Redacted, Runtime } from "effect"
import * as ExitCodes from "../process/ExitCodes.ts"
import * as Role from "./Role.ts"
import * as DatabaseSettings from "./DatabaseSettings.ts"
import * as HttpSettings from "./HttpSettings.ts"
import * as InboundSettings from "./InboundSettings.ts"
import * as MailSettings from "./MailSettings.ts"
import * as ObservabilitySettings from "./ObservabilitySettings.ts"
import { setting, type Setting } from "./Setting.ts"

/** All settings. `waybill config` and docs/configuration.md are generated from this table. */
export const TABLE = {
  roles: setting(
    "ROLES",
    "Roles of this process, comma-separated: api serves the API and the dashboard, worker delivers mail and calls webhooks, smtp accepts mail.",
    Role.ALL.join(","),
    Config.schema(Role.FromText, "ROLES").pipe(Config.withDefault<Role.Roles>(Role.ALL)),
  ),
  ...HttpSettings.TABLE,
  ...DatabaseSettings.TABLE,
  ...MailSettings.TABLE,
  ...InboundSettings.TABLE,
  ...ObservabilitySettings.TABLE,
} as const

type Values<T> = { readonly [K in keyof T]: T[K] extends Setting<infer A> ? A : never }
export type Settings = Values<typeof TABLE>

export class SettingsWrong extends Data.TaggedError("SettingsWrong")<{ readonly problems: ReadonlyArray<string> }> {
  override readonly [Runtime.errorExitCode] = ExitCodes.EXIT_SETTINGS
  override get message() {
    return this.problems.join("\n")
  }
}

/** Reads all settings, or fails with every invalid one, each problem naming its variable. */
export const load: Effect.Effect<Settings, SettingsWrong> = Effect.gen(function* () {
  const problems: Array<string> = []
  const values: Record<string, unknown> = {}
  for (const [key, { config, fallback, meaning, name }] of Object.entries(TABLE) as ReadonlyArray<
    [string, Setting<unknown>]
  >) {
    const read = yield* Effect.result(config)
    if (read._tag === "Success") values[key] = read.success
    else {
      const otherwise = fallback === null ? "Unset it to turn this off." : `Default: ${fallback}.`
      problems.push(`${name} is invalid: ${oneLine(read.failure.message)}. ${meaning} ${otherwise}`)
    }
  }
  const isSet = (key: string) => Option.isSome((values[key] ?? Option.none()) as Option.Option<unknown>)
  // An invalid address is reported already.
  if (values["transport"] === "relay" && "smtpUrl" in values && !isSet("smtpUrl")) {
    problems.push(
      "SMTP_URL is missing: TRANSPORT=relay needs the address of the relay, such as smtp://user:password@host:587.",
    )
  }
  if (values["transport"] === "nodemailer" && !isSet("nodemailerTransport")) {
    problems.push(
      "NODEMAILER_TRANSPORT is missing: TRANSPORT=nodemailer needs ses, sendmail, or the name or path of a module.",
    )
  }
  if (isSet("smtpTlsCert") !== isSet("smtpTlsKey")) {
    problems.push("SMTP_TLS_CERT and SMTP_TLS_KEY must be set together: one of them is missing.")
  }
  if (isSet("smtpsPort") && !isSet("smtpTlsCert") && !isSet("smtpTlsKey")) {
    problems.push("SMTPS_PORT needs a certificate: set SMTP_TLS_CERT and SMTP_TLS_KEY, or unset SMTPS_PORT.")
  }
  if (new Set(["oidcIssuer", "oidcClientId", "oidcClientSecret"].map(isSet)).size > 1) {
    problems.push("OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET must be set together: one of them is missing.")
  }
  const { host, port = 1 } = values as Partial<ListenAddress>
  if (host !== undefined && !URL.canParse(ownUrl({ host, port }))) {
    problems.push(`HOST is invalid: ${host} is neither an IP address nor a host name. Default: 127.0.0.1.`)
  }
  if (problems.length > 0) return yield* new SettingsWrong({ problems })
  return values as unknown as Settings
})

/** More characters than this are an ending of another program's variable, such as HOSTNAME. */
const MAX_LENGTH_DIFFERENCE = 3

/** Variables of libpq and npm. */
const FOREIGN = /^(?:PG|npm_)/u

/** Returns a warning for each variable that is not a setting and is spelled like one. */
export const misspelled = (env: Readonly<Record<string, string | undefined>>): ReadonlyArray<string> => {
  const names = Object.values(TABLE).map(({ name }) => name)
  return Object.keys(env).flatMap((name) => {
    if (names.includes(name) || FOREIGN.test(name)) return []
    const nearest = nearestName(name, names)
    return nearest === undefined || Math.abs(nearest.length - name.length) > MAX_LENGTH_DIFFERENCE
      ? []
      : [`${name} is not a setting and has no effect. Did you mean ${nearest}?`]
  })
}

/** Shortens a schema error to one line without its path, because the message names the variable already. */
const oneLine = (text: string): string =>
  text
    .replace(/\s+/g, " ")
    .replace(/^SchemaError\((.*)\)$/u, "$1")
    .replace(/^SourceError(?:: |\()(.*?)\)?$/u, "$1")
    .replace(/ at \["[A-Z_]+"\]/u, "")
    .trim()

/** Returns every setting with its value in the environment, secrets hidden, for `waybill config`. */
export const describe = Effect.gen(function* () {
  const provider = yield* ConfigProvider.ConfigProvider
  return yield* Effect.forEach(Object.values(TABLE) as ReadonlyArray<Setting<unknown>>, (each) =>
    Effect.map(Effect.result(Config.String(each.name).parse(provider)), (read) => ({
      name: each.name,
      value: read._tag === "Failure" ? null : each.secret ? "<set>" : read.success,
      default: each.fallback,
      meaning: each.meaning,
    })),
  )
})

/** Joins host and port, with brackets around an IPv6 address. */
export const hostAndPort = (host: string, port: number): string => `${host.includes(":") ? `[${host}]` : host}:${port}`

/** Addresses that mean every interface when listening; clients cannot connect to them. */
const EVERY_ADDRESS: ReadonlySet<string> = new Set(["0.0.0.0", "::"])

type ListenAddress = Pick<Settings, "host" | "port">

const ownUrl = ({ host, port }: ListenAddress): string =>
  `http://${hostAndPort(EVERY_ADDRESS.has(host) ? "127.0.0.1" : host, port)}`

export const urlOf = (settings: ListenAddress & Pick<Settings, "baseUrl">): string =>
  Option.getOrElse(settings.baseUrl, () => ownUrl(settings))

/** Whether this value of HOST listens on every address of the machine. */
export const isEveryAddress = (host: string): boolean => EVERY_ADDRESS.has(host)

/** True if the service listens for other machines but would give them addresses of the loopback interface. */
export const isBaseUrlMissing = ({ baseUrl, host }: Pick<Settings, "baseUrl" | "host">): boolean =>
  Option.isNone(baseUrl) && isEveryAddress(host)

export const reveal = (secret: Option.Option<Redacted.Redacted>): string | undefined =>
  Option.getOrUndefined(Option.map(secret, Redacted.value))
