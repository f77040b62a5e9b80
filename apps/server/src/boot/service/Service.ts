import * as Programs from "../../templates/Programs.ts"
import { Dns } from "@waybill/mail/dns/Dns"
import * as MailNetwork from "@waybill/mail/dns/Network"
import * as Availability from "@waybill/store/availability/Availability"
import { Admission } from "@waybill/store/admission/Admission"
import * as Database from "@waybill/store/database/Database"
import * as SealedAddresses from "@waybill/store/secrets/SealedAddresses"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as EventKinds from "@waybill/store/feed/EventKinds"
import { KeyUses } from "@waybill/store/admission/KeyUses"
import * as RequestLogWriter from "@waybill/store/requests/RequestLogWriter"
import * as Replica from "@waybill/store/feed/Replica"
import { Secrets } from "@waybill/store/secrets/Secrets"
import { Effect, Layer, Option, Redacted, Result } from "effect"
import { readFile } from "node:fs/promises"
import { hostname } from "node:os"
import * as AuthRoutes from "../../signIn/AuthRoutes.ts"
import * as DashboardPages from "../../http/pages/DashboardPages.ts"
import { Instance, ReceivesMailAt, type SubmissionAddress } from "../../settings/Instance.ts"
import * as LogRoutes from "../../http/pages/LogRoutes.ts"
import * as OperatorRoutes from "../../http/dashboard/OperatorRoutes.ts"
import * as QueueRoutes from "../../http/dashboard/QueueRoutes.ts"
import * as SavedViewRoutes from "../../http/dashboard/SavedViewRoutes.ts"
import * as PreviewPages from "../../http/pages/PreviewPages.ts"
import * as Server from "../../http/Server.ts"
import { Sessions } from "../../signIn/Session.ts"
import * as TrackingRoutes from "../../http/pages/TrackingRoutes.ts"
import * as ReturningMail from "../../links/ReturningMail.ts"
import * as TrackingHosts from "../../links/TrackingHosts.ts"
import * as UnsubscribePage from "../../http/pages/UnsubscribePage.ts"
import * as InstanceKeys from "../../installation/InstanceKeys.ts"
import * as ReturnPathKeys from "../../installation/ReturnPathKeys.ts"
import { isEveryAddress, type Settings, SettingsWrong, urlOf } from "../../settings/Settings.ts"
import * as HookRoutes from "../../providers/HookRoutes.ts"
import { SignIn } from "../../signIn/SignIn.ts"
import * as Exposition from "../../metrics/Exposition.ts"
import * as InboundSettings from "../../settings/InboundSettings.ts"
import * as HostNames from "../../process/HostNames.ts"
import * as InboundMail from "../../smtp/InboundMail.ts"
import * as MailListener from "../../smtp/MailListener.ts"
import * as Submission from "../../smtp/Submission.ts"
import * as Version from "../../process/Version.ts"
import * as StoppedLinks from "../../links/StoppedLinks.ts"
import * as TrackedLinks from "../../links/TrackedLinks.ts"
import * as Visits from "../../links/Visits.ts"

/** The event store, its secrets and the admission of requests. */
export const store = (settings: Settings, url: Redacted.Redacted) =>
  Layer.mergeAll(Secrets.layer, Admission.layer).pipe(
    Layer.provideMerge(KeyUses.layer),
    Layer.provideMerge(Programs.layer),
    Layer.provideMerge(EventStore.layer()),
    Layer.provideMerge(EventKinds.layer({ release: Version.VERSION })),
    Layer.provideMerge(replica(settings)),
    Layer.provideMerge(settings.requestLogDays === 0 ? Layer.empty : RequestLogWriter.layer(url)),
    Layer.provideMerge(Availability.layer({ timeout: settings.databaseTimeout })),
    Layer.provideMerge(Database.layer({ url, connections: settings.databaseConnections })),
    Layer.provideMerge(SealedAddresses.layer),
    Layer.provideMerge(InstanceKeys.instanceKey(settings)),
  )

/** Label below a customer's domain whose CNAME leads bounces to this instance. */
const RETURN_PATH_LABEL = "bounce"

const replica = ({ databaseConnections: connections, databaseReplicaUrl }: Settings) =>
  Option.match(databaseReplicaUrl, { onNone: () => Layer.empty, onSome: (url) => Replica.layer({ url, connections }) })

/** The operator's decisions that concern requests and domains. */
export const instance = (settings: Settings) =>
  Layer.succeed(Instance, {
    transport: settings.transport,
    returnPath: { kind: "cname", label: RETURN_PATH_LABEL, target: settings.returnPathDomain },
    allowedNetworks: settings.webhookAllowNetworks,
    attachmentNetworks: settings.attachmentAllowNetworks,
    baseUrl: Option.getOrNull(settings.baseUrl),
    tracks: TrackedLinks.trackingUrlOf(settings) !== undefined,
    trackingHost: TrackedLinks.trackingHostOf(settings),
    mailHost: ehloName(settings),
    inboundDomain: InboundSettings.domainOf(settings),
    submission: submissionOf(settings),
  })

const submissionOf = (settings: Settings): SubmissionAddress | null =>
  settings.roles.includes("smtp")
    ? {
        host: isEveryAddress(settings.host) ? null : settings.host,
        port: settings.smtpPort,
        tls: hasSmtpTls(settings),
        tlsPort: Option.getOrNull(settings.smtpsPort),
      }
    : null

const hasSmtpTls = ({ smtpTlsCert, smtpTlsKey }: Settings): boolean =>
  Option.isSome(smtpTlsCert) && Option.isSome(smtpTlsKey)

/** The API, its documentation, and the dashboard with sign-in. */
export const http = (
  settings: Settings,
  url: Redacted.Redacted,
  metrics: ReturnType<typeof Exposition.route> = Layer.empty,
) =>
  Server.HttpLive({
    host: settings.host,
    port: settings.port,
    maxBodyBytes: settings.maxBodyBytes,
    doorHosts: settings.compatHosts,
    trustedProxies: networks(settings.trustedProxies),
    connections: { total: settings.httpMaxConnections, perAddress: settings.httpMaxConnectionsPerAddress },
    also: {
      routes: Layer.mergeAll(
        DashboardPages.layer(),
        AuthRoutes.layer(networks(settings.trustedProxies)),
        PreviewPages.layer(
          urlOf(settings),
          linkSettings(settings),
          ReturningMail.of(ehloName(settings), InboundSettings.domainOf(settings)),
        ),
        OperatorRoutes.layer(url, settings.roles),
        SavedViewRoutes.layer,
        QueueRoutes.layer,
        UnsubscribePage.layer(networks(settings.trustedProxies)),
        TrackingRoutes.layer(networks(settings.trustedProxies)),
        HookRoutes.layer(networks(settings.trustedProxies)),
        LogRoutes.layer({ baseUrl: urlOf(settings), isPublic: settings.transparency }),
        metrics,
      ),
      open: (path) => UnsubscribePage.isOpen(path) || TrackingRoutes.isOpen(path) || HookRoutes.isOpen(path),
      document: (path, request) => LogRoutes.isOpen(path) || DashboardPages.isOpen(path, request),
      visit: TrackingRoutes.isVisit,
    },
  }).pipe(
    Layer.provide([dns(settings), StoppedLinks.layer, trackingHosts(settings), Visits.layer]),
    Layer.provide(Layer.effect(Sessions, SignIn)),
    Layer.provide(SignIn.layer({ url: urlOf(settings), database: url, oidc: oidc(settings) })),
  )

/** Settings of tracked links. */
export const linkSettings = (settings: Settings) => ({
  base: TrackedLinks.trackingUrlOf(settings),
  customers: TrackedLinks.trackingHostOf(settings) !== null,
})

/** Customers' tracking domains, without the names of the service itself. */
const trackingHosts = (settings: Settings) =>
  TrackedLinks.trackingHostOf(settings) === null
    ? TrackingHosts.none
    : TrackingHosts.layer(
        [urlOf(settings), TrackedLinks.trackingUrlOf(settings)].flatMap((url) =>
          url === undefined ? [] : [new URL(url).hostname],
        ),
      )

const oidc = ({ oidcClientId, oidcClientSecret, oidcIssuer }: Settings) =>
  Option.isNone(oidcIssuer) || Option.isNone(oidcClientId) || Option.isNone(oidcClientSecret)
    ? undefined
    : {
        issuer: oidcIssuer.value,
        clientId: oidcClientId.value,
        clientSecret: Redacted.value(oidcClientSecret.value),
      }

/** Parses networks that the settings have validated already; a failure is a bug. */
export const networks = (cidrs: ReadonlyArray<string>) => Result.getOrThrow(MailNetwork.parseAll(cidrs))

export const dns = (settings: Settings) =>
  Dns.layer(settings.dnsServers.length === 0 ? {} : { servers: settings.dnsServers })

/** Host names under which the metrics may be requested. */
const hostNames = ({ baseUrl, metricsAllowHosts, metricsHost }: Settings) =>
  HostNames.make([
    hostname(),
    metricsHost,
    ...metricsAllowHosts,
    ...Option.match(baseUrl, { onNone: () => [], onSome: (url) => [new URL(url).hostname] }),
  ])

/** `/metrics` on the API's port. */
export const metricsRoute = (settings: Settings, exposition: Exposition.Exposition["Service"]) => {
  const { baseUrl, metricsAllowNetworks, trustedProxies } = settings
  return Exposition.route(exposition, {
    hostNames: hostNames(settings),
    networks: Option.getOrUndefined(Option.map(metricsAllowNetworks, networks)),
    trustedProxies: networks(trustedProxies),
    isBehindProxy: Option.isSome(baseUrl) || trustedProxies.length > 0,
  })
}

/** `/metrics` on a port of its own, if one is set. */
export const metrics = (settings: Settings) =>
  Option.match(settings.metricsPort, {
    onNone: () => Layer.empty,
    onSome: (port) => Exposition.listen({ host: settings.metricsHost, port, hostNames: hostNames(settings) }),
  })

/** Name of this host in EHLO. */
export const ehloName = (settings: Settings): string => Option.getOrElse(settings.ehloName, hostname)

const smtpTls = ({ smtpTlsCert, smtpTlsKey }: Settings) =>
  Effect.gen(function* () {
    if (Option.isNone(smtpTlsCert) || Option.isNone(smtpTlsKey)) return undefined
    const read = (name: string, file: string) =>
      Effect.tryPromise({
        try: () => readFile(file, "utf8"),
        catch: () => new SettingsWrong({ problems: [`${name} names the file ${file}, which cannot be read.`] }),
      })
    return {
      cert: yield* read("SMTP_TLS_CERT", smtpTlsCert.value),
      key: yield* read("SMTP_TLS_KEY", smtpTlsKey.value),
    }
  })

const USUAL_MAIL_PLACE = { host: "127.0.0.1", port: InboundSettings.DEFAULT_MAIL_PORT }

/** SMTP submission, and the listener for mail that comes in, with its address. */
export const smtp = (settings: Settings) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const tls = yield* smtpTls(settings)
      const common = { host: settings.host, name: ehloName(settings), ...(tls === undefined ? {} : { tls }) }
      const smtpsPort = Option.getOrUndefined(settings.smtpsPort)
      const submission = Submission.layer({
        ...common,
        ...(tls === undefined || smtpsPort === undefined ? {} : { tls: { ...tls, port: smtpsPort } }),
        port: settings.smtpPort,
        maxMessageBytes: settings.maxBodyBytes,
        tracks: TrackedLinks.trackingUrlOf(settings) !== undefined,
      })
      const returnPath = { domain: settings.returnPathDomain, secretKeys: yield* ReturnPathKeys.returnPathKeys }
      const { inboundDays: days, inboundMaxBytes: maxBytes } = settings
      const inbound = InboundMail.make({ days, maxBytes, name: common.name })
      const listenAt = (place: { readonly host?: string; readonly port: number }) =>
        MailListener.start({ ...common, ...place, returnPath, inbound })
      const mail = Option.match(settings.mailPort, {
        // Another process on this machine may have the usual place.
        onNone: () =>
          Effect.catchIf(listenAt(USUAL_MAIL_PLACE), isInUse, () => Effect.as(Effect.logWarning(NO_MAIL), null)),
        onSome: (port) => listenAt({ port }),
      })
      return Layer.merge(submission, Layer.provide(Layer.effect(ReceivesMailAt, mail), dns(settings)))
    }),
  )

const isInUse = (error: Error): boolean => "code" in error && error.code === "EADDRINUSE"
const NO_MAIL = `no mail comes in: port ${USUAL_MAIL_PLACE.port} is in use; set MAIL_PORT to another`
