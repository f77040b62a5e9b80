import { nearestName } from "@waybill/domain/values/nearestName"
import { Config, ConfigProvider, Data, Effect, Option, Redacted, Result, Runtime } from "effect"
import * as ExitCodes from "../process/ExitCodes.ts"
import * as Role from "./Role.ts"
import * as DatabaseSettings from "./DatabaseSettings.ts"
import * as HttpSettings from "./HttpSettings.ts"
import * as InboundSettings from "./InboundSettings.ts"
import * as MailSettings from "./MailSettings.ts"
import * as ObservabilitySettings from "./ObservabilitySettings.ts"
import { formOf } from "../process/formOf.ts"
import { setting, type Setting } from "./Setting.ts"

const ROLES = {
  roles: setting(
    "ROLES",
    "Roles of this process, comma-separated: api serves the API and the dashboard, worker delivers mail and calls webhooks, smtp accepts mail.",
    Role.ALL.join(","),
    Config.schema(Role.FromText, "ROLES").pipe(Config.withDefault<Role.Roles>(Role.ALL)),
  ),
}

/** All settings. `waybill config` and docs/configuration.md are generated from these tables. */
export const TABLE = {
  ...ROLES,
  ...HttpSettings.TABLE,
  ...DatabaseSettings.TABLE,
  ...MailSettings.TABLE,
  ...InboundSettings.TABLE,
  ...ObservabilitySettings.TABLE,
} as const

const namesIn = (table: Readonly<Record<string, Pick<Setting<unknown>, "name">>>): ReadonlyArray<string> =>
  Object.values(table).map(({ name }) => name)

/** Names of the settings, by what they are about. */
export const GROUPS: ReadonlyArray<readonly [title: string, names: ReadonlyArray<string>]> = [
  ["Process, API and dashboard", namesIn({ ...ROLES, ...HttpSettings.TABLE })],
  ["Database and data", namesIn(DatabaseSettings.TABLE)],
  ["Mail that is sent", namesIn(MailSettings.TABLE)],
  ["Mail that comes in", namesIn(InboundSettings.TABLE)],
  ["Metrics, traces and logs", namesIn(ObservabilitySettings.TABLE)],
]

type Values<T> = { readonly [K in keyof T]: T[K] extends Setting<infer A> ? A : never }
export type Settings = Values<typeof TABLE>

export class SettingsWrong extends Data.TaggedError("SettingsWrong")<{ readonly problems: ReadonlyArray<string> }> {
  override readonly [Runtime.errorExitCode] = ExitCodes.EXIT_SETTINGS
  override get message() {
    return this.problems.join("\n")
  }
}

/** A fault of one setting, or of several together. */
interface SettingFault {
  readonly names: ReadonlyArray<string>
  readonly text: string
}

const read = Effect.gen(function* () {
  const faults: Array<SettingFault> = []
  const values: Record<string, unknown> = {}
  for (const [key, { config, fallback, meaning, name }] of Object.entries(TABLE) as ReadonlyArray<
    [string, Setting<unknown>]
  >) {
    const found = yield* Effect.result(config)
    if (found._tag === "Success") values[key] = found.success
    else {
      const otherwise = fallback === null ? "Unset it if you do not need it." : `Default: ${fallback}.`
      faults.push({
        names: [name],
        text: `${name} is invalid: ${reasonOf(oneLine(found.failure.message))}. ${meaning} ${otherwise}`,
      })
    }
  }
  const isSet = (key: string) => Option.isSome((values[key] ?? Option.none()) as Option.Option<unknown>)
  const fault = (names: ReadonlyArray<string>, text: string) => void faults.push({ names, text })
  // An invalid address is reported already.
  if (values["transport"] === "relay" && "smtpUrl" in values && !isSet("smtpUrl"))
    fault(
      ["SMTP_URL"],
      "SMTP_URL is missing: TRANSPORT=relay needs the address of the relay, such as smtp://user:password@host:587.",
    )
  if (values["transport"] === "nodemailer" && !isSet("nodemailerTransport"))
    fault(
      ["NODEMAILER_TRANSPORT"],
      "NODEMAILER_TRANSPORT is missing: TRANSPORT=nodemailer needs ses, sendmail, or the name or path of a module.",
    )
  if (isSet("smtpTlsCert") !== isSet("smtpTlsKey"))
    fault(
      ["SMTP_TLS_CERT", "SMTP_TLS_KEY"],
      "SMTP_TLS_CERT and SMTP_TLS_KEY must be set together: one of them is missing.",
    )
  if (isSet("smtpsPort") && !isSet("smtpTlsCert") && !isSet("smtpTlsKey"))
    fault(["SMTPS_PORT"], "SMTPS_PORT needs a certificate: set SMTP_TLS_CERT and SMTP_TLS_KEY, or unset SMTPS_PORT.")
  if (new Set(["oidcIssuer", "oidcClientId", "oidcClientSecret"].map(isSet)).size > 1)
    fault(
      ["OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET"],
      "OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET must be set together: one of them is missing.",
    )
  const { host, port = 1 } = values as Partial<ListenAddress>
  if (host !== undefined && !URL.canParse(ownUrl({ host, port })))
    fault(["HOST"], `HOST is invalid: ${host} is neither an IP address nor a host name. Default: 127.0.0.1.`)
  return { faults, values: values as unknown as Settings }
})

/** Reads all settings, or fails with every invalid one, each problem naming its variable. */
export const load: Effect.Effect<Settings, SettingsWrong> = Effect.flatMap(read, ({ faults, values }) =>
  faults.length > 0
    ? Effect.fail(new SettingsWrong({ problems: faults.map(({ text }) => text) }))
    : Effect.succeed(values),
)

const NAMES = namesIn(TABLE)

/** Returns the name of a setting in its own case, or the name that was probably meant. */
export const nameOf = (text: string): Result.Result<string, string | undefined> => {
  const name = text.toUpperCase().replaceAll("-", "_")
  return NAMES.includes(name) ? Result.succeed(name) : Result.fail(nearestName(name, NAMES))
}

/** More characters than this are an ending of another program's variable, such as HOSTNAME. */
const MAX_LENGTH_DIFFERENCE = 3

/** Variables of libpq and npm. */
const FOREIGN = /^(?:PG|npm_)/u

/** Returns a warning for each variable that is not a setting and is spelled like one. */
export const misspelled = (env: Readonly<Record<string, string | undefined>>): ReadonlyArray<string> => {
  return Object.keys(env).flatMap((name) => {
    if (NAMES.includes(name) || FOREIGN.test(name)) return []
    const nearest = nearestName(name, NAMES)
    return nearest === undefined || Math.abs(nearest.length - name.length) > MAX_LENGTH_DIFFERENCE
      ? []
      : [`${name} is not a setting and has no effect. Did you mean ${nearest}?`]
  })
}

const reasonOf = (message: string): string => {
  if (message.startsWith("Expected ")) return `it must be ${formOf(message)}`
  return message.startsWith("is ") ? `it ${message}` : message
}

/** Shortens a schema error to one line without its path, because the message names the variable already. */
const oneLine = (text: string): string =>
  text
    .replace(/\s+/g, " ")
    .replace(/^SchemaError\((.*)\)$/u, "$1")
    .replace(/^SourceError(?:: |\()(.*?)\)?$/u, "$1")
    .replace(/ at \["[A-Z_]+"\]/u, "")
    .trim()

/** Stands for a secret that is set. */
export const SECRET = "<set>"

/** Returns every setting with its value, secrets hidden, where that comes from, and what is wrong with it. */
export const describe = Effect.gen(function* () {
  const provider = yield* ConfigProvider.ConfigProvider
  const { faults } = yield* read
  return yield* Effect.forEach(Object.values(TABLE) as ReadonlyArray<Setting<unknown>>, (each) =>
    Effect.map(Effect.result(Config.String(each.name).parse(provider)), (found) => ({
      name: each.name,
      value: found._tag === "Failure" ? null : each.secret ? SECRET : found.success,
      default: each.fallback,
      source: found._tag === "Failure" ? ("default" as const) : ("environment" as const),
      meaning: each.meaning,
      problem: faults.find(({ names }) => names.includes(each.name))?.text ?? null,
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
