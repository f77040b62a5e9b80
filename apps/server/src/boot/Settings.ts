import { Config, ConfigProvider, Data, Effect, type LogLevel, Option, Redacted, Runtime, Schema } from "effect"
import { resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { EXIT_SETTINGS } from "../cli/exitCodes.ts"
import * as Connections from "../http/middleware/Connections.ts"
import { HostName } from "../observability/HostNames.ts"
import * as Role from "./Role.ts"
import { CommaList, Count, HttpAddress, ListOf, Networks, NetworksIfSet } from "./SettingValues.ts"

const CHECKOUT = fileURLToPath(new URL("../../../../", import.meta.url))

export const DEFAULT_MAX_BODY_BYTES = 10 * 1024 * 1024
export const LARGEST_MAX_BODY_BYTES = 40 * 1024 * 1024

/** Two years and the month that has begun: a month can be compared with the same one of the two years before. */
export const DEFAULT_STATS_MONTHS = 25
/** What one answer may cover. */
export const MIN_STATS_MONTHS = 13
export const MAX_STATS_MONTHS = 240

interface Setting<A> {
  readonly name: string
  readonly meaning: string
  /** As a person would write it; `null` where there is none. */
  readonly fallback: string | null
  readonly secret: boolean
  readonly config: Config.Config<A>
}

const setting = <A>(
  name: string,
  meaning: string,
  fallback: string | null,
  config: Config.Config<A>,
  secret = false,
): Setting<A> => ({ name, meaning, fallback, secret, config })

/** Every setting there is. `waybill config` and docs/configuration.md are written from this table. */
export const TABLE = {
  roles: setting(
    "ROLES",
    "What this process does, comma-separated: api answers requests, worker delivers and calls webhooks, smtp takes mail in.",
    Role.ALL.join(","),
    Config.schema(Role.FromText, "ROLES").pipe(Config.withDefault<Role.Roles>(Role.ALL)),
  ),
  port: setting(
    "PORT",
    "Port of the API, the documentation and the dashboard.",
    "3025",
    Config.Port("PORT").pipe(Config.withDefault(3025)),
  ),
  host: setting(
    "HOST",
    "Address to listen on.",
    "127.0.0.1",
    Config.String("HOST").pipe(Config.withDefault("127.0.0.1")),
  ),
  baseUrl: setting(
    "BASE_URL",
    "How clients reach the service, when that is not http://HOST:PORT (behind a proxy).",
    null,
    Config.option(HttpAddress("BASE_URL")),
  ),
  trackingUrl: setting(
    "TRACKING_URL",
    "Address that links in mail lead over where opens and clicks are tracked, when that is not BASE_URL.",
    null,
    Config.option(HttpAddress("TRACKING_URL")),
  ),
  trackingDomains: setting(
    "TRACKING_DOMAINS",
    "Whether links may lead over names of customers' own (on, off): the proxy then serves TLS for them.",
    "off",
    Config.Literals(["on", "off"], "TRACKING_DOMAINS").pipe(
      Config.withDefault("off" as const),
      Config.map((word) => word === "on"),
    ),
  ),
  smtpPort: setting(
    "SMTP_PORT",
    "Port of SMTP submission.",
    "2525",
    Config.Port("SMTP_PORT").pipe(Config.withDefault(2525)),
  ),
  smtpTlsCert: setting(
    "SMTP_TLS_CERT",
    "File of the certificate chain (PEM) that SMTP offers STARTTLS with; without it, keys are taken from this machine only.",
    null,
    Config.option(Config.String("SMTP_TLS_CERT")),
  ),
  smtpTlsKey: setting(
    "SMTP_TLS_KEY",
    "File of the private key (PEM) of SMTP_TLS_CERT.",
    null,
    Config.option(Config.String("SMTP_TLS_KEY")),
  ),
  reportsPort: setting(
    "REPORTS_PORT",
    "Port on which bounces and complaints for RETURN_PATH_DOMAIN come in; mail servers look for 25. Off when unset.",
    null,
    Config.option(Config.Port("REPORTS_PORT")),
  ),
  data: setting(
    "WAYBILL_DATA",
    "Folder of the embedded Postgres and of the instance's key.",
    ".waybill in the checkout",
    Config.String("WAYBILL_DATA").pipe(
      Config.withDefault(".waybill"),
      Config.map((path) => resolve(CHECKOUT, path)),
    ),
  ),
  postgres: setting(
    "WAYBILL_POSTGRES",
    "Folder (with bin) of a Postgres 17 or 18 for the embedded one to run, where that from npm does not.",
    null,
    Config.option(Config.String("WAYBILL_POSTGRES")),
  ),
  databaseUrl: setting(
    "DATABASE_URL",
    "A Postgres (15 to 18) to use instead of the embedded one.",
    null,
    Config.option(Config.Redacted("DATABASE_URL")),
    true,
  ),
  databaseReplicaUrl: setting(
    "DATABASE_REPLICA_URL",
    "A streaming replica of DATABASE_URL; logs are read there as soon as it shows what their reader has written.",
    null,
    Config.option(Config.Redacted("DATABASE_REPLICA_URL")),
    true,
  ),
  databaseConnections: setting(
    "DATABASE_CONNECTIONS",
    "Connections of this process to Postgres.",
    "10",
    Config.schema(Schema.Int.check(Schema.isBetween({ minimum: 2, maximum: 500 })), "DATABASE_CONNECTIONS").pipe(
      Config.withDefault(10),
    ),
  ),
  instanceKey: setting(
    "WAYBILL_INSTANCE_KEY",
    "32 bytes in base64 that seal private keys and secrets; made in the data folder when absent.",
    null,
    Config.option(Config.Redacted("WAYBILL_INSTANCE_KEY")),
    true,
  ),
  trustedProxies: setting(
    "TRUSTED_PROXIES",
    "Networks (CIDR, comma-separated) whose X-Forwarded-For is believed.",
    "none",
    Networks("TRUSTED_PROXIES"),
  ),
  maxBodyBytes: setting(
    "MAX_BODY_BYTES",
    `Largest request body, up to ${LARGEST_MAX_BODY_BYTES}.`,
    `${DEFAULT_MAX_BODY_BYTES}`,
    Config.schema(
      Schema.Int.check(Schema.isBetween({ minimum: 1024, maximum: LARGEST_MAX_BODY_BYTES })),
      "MAX_BODY_BYTES",
    ).pipe(Config.withDefault(DEFAULT_MAX_BODY_BYTES)),
  ),
  httpMaxConnections: setting(
    "HTTP_MAX_CONNECTIONS",
    "Connections to PORT that this process keeps open at once, from 10 to 100000.",
    String(Connections.DEFAULT_MAX_CONNECTIONS),
    Count("HTTP_MAX_CONNECTIONS", Connections.DEFAULT_MAX_CONNECTIONS),
  ),
  httpMaxConnectionsPerAddress: setting(
    "HTTP_MAX_CONNECTIONS_PER_ADDRESS",
    "The same for one client address (IPv6: one /64), from 10 to 100000; TRUSTED_PROXIES are exempt.",
    String(Connections.DEFAULT_MAX_CONNECTIONS_PER_ADDRESS),
    Count("HTTP_MAX_CONNECTIONS_PER_ADDRESS", Connections.DEFAULT_MAX_CONNECTIONS_PER_ADDRESS),
  ),
  transport: setting(
    "TRANSPORT",
    "How mail leaves: capture keeps it for the inbox, relay hands it to SMTP_URL, direct asks the recipients' own servers.",
    "capture",
    Config.Literals(["capture", "relay", "direct"], "TRANSPORT").pipe(Config.withDefault("capture" as const)),
  ),
  smtpUrl: setting(
    "SMTP_URL",
    "The relay, as smtp://user:password@host:587 or smtps://…:465.",
    null,
    Config.option(Config.Redacted("SMTP_URL")),
    true,
  ),
  ehloName: setting(
    "EHLO_NAME",
    "The name this host gives itself to other mail servers; its address should resolve back to it.",
    "the host's name",
    Config.option(Config.String("EHLO_NAME")),
  ),
  returnPathDomain: setting(
    "RETURN_PATH_DOMAIN",
    "Domain whose mail this instance receives, for bounces and complaints.",
    "bounces.localhost",
    Config.String("RETURN_PATH_DOMAIN").pipe(Config.withDefault("bounces.localhost")),
  ),
  dnsServers: setting(
    "DNS_SERVERS",
    "Resolvers to ask (host or host:port, comma-separated).",
    "those of the system",
    CommaList("DNS_SERVERS"),
  ),
  webhookAllowNetworks: setting(
    "WEBHOOK_ALLOW_NETWORKS",
    "Private networks (CIDR, comma-separated) that webhooks may reach, http included.",
    "none",
    Networks("WEBHOOK_ALLOW_NETWORKS"),
  ),
  oidcIssuer: setting(
    "OIDC_ISSUER",
    "Address of an OpenID Connect provider with which members may sign in to the dashboard.",
    null,
    Config.option(Config.String("OIDC_ISSUER")),
  ),
  oidcClientId: setting(
    "OIDC_CLIENT_ID",
    "The name under which that provider knows this service; its redirect address is BASE_URL/auth/callback/oidc.",
    null,
    Config.option(Config.String("OIDC_CLIENT_ID")),
  ),
  oidcClientSecret: setting(
    "OIDC_CLIENT_SECRET",
    "The secret that belongs to OIDC_CLIENT_ID.",
    null,
    Config.option(Config.Redacted("OIDC_CLIENT_SECRET")),
    true,
  ),
  statsMonths: setting(
    "STATS_MONTHS",
    "Whole months for which statistics are kept beside the current one, from 13 to 240.",
    String(DEFAULT_STATS_MONTHS),
    Config.schema(
      Schema.Int.check(Schema.isBetween({ minimum: MIN_STATS_MONTHS, maximum: MAX_STATS_MONTHS })),
      "STATS_MONTHS",
    ).pipe(Config.withDefault(DEFAULT_STATS_MONTHS)),
  ),
  metricsPort: setting(
    "METRICS_PORT",
    "Port on which Prometheus reads /metrics of this process, /healthz and /readyz beside it; off when unset.",
    null,
    Config.option(Config.Port("METRICS_PORT")),
  ),
  metricsHost: setting(
    "METRICS_HOST",
    "Address of METRICS_PORT; whoever can reach it reads.",
    "127.0.0.1",
    Config.String("METRICS_HOST").pipe(Config.withDefault("127.0.0.1")),
  ),
  metricsAllowNetworks: setting(
    "METRICS_ALLOW_NETWORKS",
    "Networks (CIDR, comma-separated, or none) that may read /metrics on the API's port.",
    "this machine, unless BASE_URL or TRUSTED_PROXIES says that a proxy stands before it",
    NetworksIfSet("METRICS_ALLOW_NETWORKS"),
  ),
  metricsAllowHosts: setting(
    "METRICS_ALLOW_HOSTS",
    "Names (comma-separated) under which /metrics may be read, besides addresses, names without a dot and BASE_URL.",
    "none",
    ListOf("METRICS_ALLOW_HOSTS", HostName),
  ),
  otlpEndpoint: setting(
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "Where traces go, in OTLP over HTTP as JSON, such as http://127.0.0.1:4318; none are made when unset.",
    null,
    Config.option(HttpAddress("OTEL_EXPORTER_OTLP_ENDPOINT")),
  ),
  otlpHeaders: setting(
    "OTEL_EXPORTER_OTLP_HEADERS",
    "Headers for the collector, as name=value,name=value.",
    null,
    Config.option(Config.Redacted("OTEL_EXPORTER_OTLP_HEADERS")),
    true,
  ),
  tracesShare: setting(
    "OTEL_TRACES_SAMPLER_ARG",
    "Share of requests that are traced, from 0 to 1, each with all that follows from it.",
    "1",
    Config.schema(Schema.Number.check(Schema.isBetween({ minimum: 0, maximum: 1 })), "OTEL_TRACES_SAMPLER_ARG").pipe(
      Config.withDefault(1),
    ),
  ),
  logLevel: setting(
    "LOG_LEVEL",
    "Debug, Info, Warn or Error.",
    "Info",
    Config.LogLevel("LOG_LEVEL").pipe(Config.withDefault("Info" as LogLevel.LogLevel)),
  ),
} as const

type Values<T> = { readonly [K in keyof T]: T[K] extends Setting<infer A> ? A : never }
export type Settings = Values<typeof TABLE>

export class SettingsWrong extends Data.TaggedError("SettingsWrong")<{ readonly problems: ReadonlyArray<string> }> {
  override readonly [Runtime.errorExitCode] = EXIT_SETTINGS
  override get message() {
    return this.problems.join("\n")
  }
}

/** All settings, or all that is wrong with them, each problem naming its variable. */
export const load: Effect.Effect<Settings, SettingsWrong> = Effect.gen(function* () {
  const problems: Array<string> = []
  const values: Record<string, unknown> = {}
  for (const [key, { config, fallback, meaning, name }] of Object.entries(TABLE) as ReadonlyArray<
    [string, Setting<unknown>]
  >) {
    const read = yield* Effect.result(config)
    if (read._tag === "Success") values[key] = read.success
    else {
      const otherwise = fallback === null ? "Leave it unset to do without." : `Default: ${fallback}.`
      problems.push(`${name} is wrong: ${oneLine(read.failure.message)}. ${meaning} ${otherwise}`)
    }
  }
  if (values["transport"] === "relay" && Option.isNone(values["smtpUrl"] as Option.Option<unknown>)) {
    problems.push(
      "SMTP_URL is missing: TRANSPORT=relay needs the relay's address, such as smtp://user:password@host:587.",
    )
  }
  const isSet = (key: string) => Option.isSome((values[key] ?? Option.none()) as Option.Option<unknown>)
  if (isSet("smtpTlsCert") !== isSet("smtpTlsKey")) {
    problems.push("SMTP_TLS_CERT and SMTP_TLS_KEY belong together: one of them is missing.")
  }
  if (new Set(["oidcIssuer", "oidcClientId", "oidcClientSecret"].map(isSet)).size > 1) {
    problems.push("OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET belong together: one of them is missing.")
  }
  const { host, port = 1 } = values as Partial<Place>
  if (host !== undefined && !URL.canParse(ownUrl({ host, port }))) {
    problems.push(`HOST is wrong: ${host} is neither an address nor a name. Default: 127.0.0.1.`)
  }
  if (problems.length > 0) return yield* new SettingsWrong({ problems })
  return values as unknown as Settings
})

/** The variable is named already, so the place inside the schema's words is left out. */
const oneLine = (text: string): string =>
  text
    .replace(/\s+/g, " ")
    .replace(/^SchemaError\((.*)\)$/u, "$1")
    .replace(/ at \["[A-Z_]+"\]/u, "")
    .trim()

/** What is set in the environment, secrets left out; for `waybill config`. */
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

/** An address of IPv6 stands in brackets where a port follows. */
export const hostAndPort = (host: string, port: number): string => `${host.includes(":") ? `[${host}]` : host}:${port}`

/** Listened on, they mean every address of the machine; called, they mean none. */
const EVERY_ADDRESS: ReadonlySet<string> = new Set(["0.0.0.0", "::"])

type Place = Pick<Settings, "host" | "port">

const ownUrl = ({ host, port }: Place): string =>
  `http://${hostAndPort(EVERY_ADDRESS.has(host) ? "127.0.0.1" : host, port)}`

export const urlOf = (settings: Place & Pick<Settings, "baseUrl">): string =>
  Option.getOrElse(settings.baseUrl, () => ownUrl(settings))

/** Others reach the service, and are told to call this very machine. */
export const isBaseUrlMissing = ({ baseUrl, host }: Pick<Settings, "baseUrl" | "host">): boolean =>
  Option.isNone(baseUrl) && EVERY_ADDRESS.has(host)

export const reveal = (secret: Option.Option<Redacted.Redacted>): string | undefined =>
  Option.getOrUndefined(Option.map(secret, Redacted.value))
