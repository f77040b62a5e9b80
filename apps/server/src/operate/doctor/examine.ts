import type * as Operate from "@waybill/api/groups/Operate"
import * as Dns from "@waybill/mail/dns/Dns"
import * as ProviderModule from "@waybill/mail/provider/ProviderModule"
import * as RelayTransport from "@waybill/mail/transport/RelayTransport"
import * as DatabaseExamination from "@waybill/store/operations/DatabaseExamination"
import * as Database from "@waybill/store/database/Database"
import * as DirectoryAudit from "@waybill/store/recovery/DirectoryAudit"
import type { ExaminedKey } from "@waybill/store/operations/ExaminedKeys"
import { Clock, Effect, Option, type Redacted, Result } from "effect"
import { getServers } from "node:dns"
import { hostname } from "node:os"
import * as InstanceKeys from "../../installation/InstanceKeys.ts"
import { Postgres } from "../../installation/Postgres.ts"
import { reveal, type Settings } from "../../settings/Settings.ts"
import * as TrackedLinks from "../../links/TrackedLinks.ts"
import { addressViews } from "../../sources/addressViews.ts"
import { readSiteRules } from "../../sources/readSiteRules.ts"
import * as DatabaseChecks from "./DatabaseChecks.ts"
import * as DiskCheck from "./DiskCheck.ts"
import { checkDaneResolver } from "./checkDaneResolver.ts"
import { checkDkimKeys } from "./checkDkimKeys.ts"
import * as MailSettings from "../../settings/MailSettings.ts"
import * as Finding from "./Finding.ts"
import * as NameChecks from "./NameChecks.ts"
import { checkPort25, type Host } from "./checkPort25.ts"
import { checkRelay } from "./checkRelay.ts"
import { checkResolvers } from "./checkResolvers.ts"
import { checkSourceAddresses } from "./checkSourceAddresses.ts"

const ofSiteRules = Finding.of("site rules")
const ofTracking = Finding.of("tracking")

export interface Options {
  /** Whether to check direct delivery even if no domain uses it. */
  readonly direct: boolean
  /** Servers for the check of port 25, instead of those of large receivers. */
  readonly targets: ReadonlyArray<Host>
}

type Kind = Settings["transport"]

/** Runs all checks of an instance. Nothing is changed and nothing is sent. */
export const examine = Effect.fnUntraced(function* (settings: Settings, options: Options) {
  const { chosen, findings, keys, sources, tracked } = yield* databaseFindings(settings)
  const used = new Set<Kind>([settings.transport, ...chosen])
  const name = Option.getOrElse(settings.ehloName, hostname)
  const servers = settings.dnsServers.length === 0 ? getServers() : settings.dnsServers
  const outside = yield* Effect.all(
    [
      DiskCheck.check({ path: settings.data, database: Option.isNone(settings.databaseUrl) }),
      checkResolvers(servers, used.size === 1 && used.has("capture") && !options.direct ? "warning" : "broken"),
      relayFinding(settings, name, used.has("relay")),
      nodemailerFinding(settings, used.has("nodemailer")),
      ...direct(settings, options, name, used),
      checkSourceAddresses(sources, name),
      siteRules(settings),
    ],
    { concurrency: "unbounded" },
  ).pipe(Effect.provide(Dns.Dns.layer(settings.dnsServers.length === 0 ? {} : { servers })))
  const leaves = used.size > 1 || !used.has("capture")
  const signing = yield* signingKeys(settings, keys, leaves ? "broken" : "warning")
  return [...findings, ...outside, tracking(settings, tracked), signing]
})

/** Runs a check, or says why it is not needed. */
const orSkipped = <R>(
  isNeeded: boolean,
  check: Finding.Check,
  reason: string,
  run: () => Effect.Effect<Finding.Finding, never, R>,
) => (isNeeded ? run() : Effect.succeed(Finding.of(check).skipped(reason)))

const direct = (settings: Settings, { direct, targets }: Options, name: string, used: ReadonlySet<Kind>) => {
  const { daneResolver, mailPort, returnPathDomain } = settings
  const wanted = direct || used.has("direct")
  const reason = "only needed by direct delivery; --direct checks it anyway"
  const noBounces = "no bounce message comes in, because no mail leaves by a relay or directly"
  const noReports = "no MAIL_PORT is set, so mail comes in from this machine only"
  const isListening = Option.isSome(mailPort)
  const weight = wanted ? "broken" : "warning"
  return [
    orSkipped(wanted || targets.length > 0, "port 25", reason, () => checkPort25(targets, name, weight)),
    orSkipped(Option.isSome(daneResolver), "dane", "no DANE_RESOLVER is set", () =>
      checkDaneResolver(
        Option.getOrElse(daneResolver, () => ""),
        weight,
      ),
    ),
    orSkipped(wanted, "ehlo name", reason, () => NameChecks.ehloName(name, NameChecks.ownAddresses(), weight)),
    orSkipped(wanted || used.has("relay"), "return path", noBounces, () =>
      NameChecks.returnPath(returnPathDomain, isListening),
    ),
    orSkipped(isListening, "dmarc reports", noReports, () => NameChecks.reportAuthorization(returnPathDomain)),
  ]
}

/** Says that a transport is not configured, although domains may use it. */
const unset = (check: "relay" | "nodemailer", variable: string, used: boolean, what: string): Finding.Finding =>
  used
    ? Finding.of(check).broken(
        `domains use ${what}, but none is configured`,
        `Set ${variable}, or choose another transport for them.`,
      )
    : Finding.of(check).skipped(`no ${variable} is set`)

const relayFinding = (settings: Settings, name: string, used: boolean): Effect.Effect<Finding.Finding> => {
  const url = reveal(settings.smtpUrl)
  if (url === undefined) return Effect.succeed(unset("relay", "SMTP_URL", used, "a relay"))
  const parsed = RelayTransport.parse(url)
  if (Result.isSuccess(parsed)) return checkRelay(parsed.success, { name, weight: used ? "broken" : "warning" })
  const fix = "Correct SMTP_URL; the service does not start with this value."
  return Effect.succeed(Finding.of("relay").broken(parsed.failure.message, fix))
}

const nodemailerFinding = (settings: Settings, used: boolean): Effect.Effect<Finding.Finding> => {
  const { ok, problem } = Finding.of("nodemailer")
  const module = Option.getOrUndefined(settings.nodemailerTransport)
  if (module === undefined)
    return Effect.succeed(unset("nodemailer", "NODEMAILER_TRANSPORT", used, "a transport of nodemailer"))
  const fix = "Install the module, or correct NODEMAILER_TRANSPORT."
  return ProviderModule.load(module, MailSettings.nodemailerOptions(reveal(settings.nodemailerOptions))).pipe(
    Effect.map((transporter) => {
      transporter.close()
      return ok(`${module} is installed and takes its options`)
    }),
    Effect.catch(({ message }) => Effect.succeed(problem(used ? "broken" : "warning", message, fix))),
  )
}

/** Checks the signing keys, without which mail goes to the sandbox only. */
const signingKeys = (settings: Settings, keys: ReadonlyArray<ExaminedKey>, weight: Finding.Severity) =>
  Effect.flatMap(InstanceKeys.instanceKeyHere(settings), (ring) => checkDkimKeys(keys, ring, weight)).pipe(
    Effect.catch(({ message }) =>
      Effect.succeed(Finding.of("dkim keys").broken(message, "Correct it; the service does not start with this key.")),
    ),
  )

/** Checks the file of the operator's rules, without which a worker does not start. */
const siteRules = ({ siteRules: file }: Settings): Effect.Effect<Finding.Finding> =>
  Option.match(file, {
    onNone: () => Effect.succeed(ofSiteRules.skipped("no SITE_RULES is set")),
    onSome: (path) =>
      Effect.match(readSiteRules(file), {
        onFailure: ({ message }) => ofSiteRules.broken(message, "Correct the file, or unset SITE_RULES."),
        onSuccess: () => ofSiteRules.ok(`${path} is read before the built-in rules`),
      }),
  })

interface Tracked {
  /** Number of domains whose mail is tracked. */
  readonly domains: number
  /** Number of domains with a tracking host of their own. */
  readonly names: number
}

/** Checks the settings that tracked mail needs, which may have been removed after tracking was enabled. */
const tracking = (settings: Settings, { domains, names }: Tracked): Finding.Finding => {
  const url = TrackedLinks.trackingUrlOf(settings)
  const host = TrackedLinks.trackingHostOf(settings)
  if (settings.trackingDomains && host === null)
    return ofTracking.warning(
      "TRACKING_DOMAINS is on, but there is no host that tracking hosts of domains could point to, so it has no effect",
      "Set TRACKING_URL or BASE_URL to a URL with a host name under which readers of mail reach this service.",
    )
  if (domains === 0 && names === 0) return ofTracking.skipped("no domain tracks its mail")
  const result = `${domains} ${domains === 1 ? "domain tracks its" : "domains track their"} mail`
  const own = `${names} ${names === 1 ? "has a tracking host of its" : "have tracking hosts of their"} own`
  if (url === undefined)
    return ofTracking.warning(
      `${result}, but there is no URL for its links, so it is sent untracked`,
      "Set TRACKING_URL or BASE_URL to a URL under which readers of mail reach this service.",
    )
  if (names > 0 && host === null)
    return ofTracking.warning(
      `${result}; ${own}, but TRACKING_DOMAINS is off, so links use ${url}`,
      "Set TRACKING_DOMAINS=on on every node once the proxy serves TLS for those hosts.",
    )
  return ofTracking.ok(`${result}; links use ${url}${names === 0 ? "" : `; ${own}`}`)
}

const databaseFindings = (settings: Settings) =>
  Effect.gen(function* () {
    const { url } = yield* Postgres.reach(settings)
    return yield* ofDatabase(url)
  }).pipe(
    Effect.scoped,
    Effect.catchTag("NoDatabase", (nothing) => Effect.succeed(onlyFinding(DatabaseChecks.none(nothing)))),
    Effect.catch((failure) => {
      const finding =
        failure._tag === "Unreachable"
          ? DatabaseChecks.unreachable(failure)
          : failure._tag === "MigrationFailed"
            ? Finding.of("schema").broken(failure.message, "Run the release of Waybill that made this schema.")
            : Finding.of("database").broken(
                failure.message,
                "Fix the cause, or set DATABASE_URL to a Postgres of your own.",
              )
      return Effect.succeed(onlyFinding(finding))
    }),
  )

const onlyFinding = (finding: Finding.Finding) => ({
  findings: [finding],
  chosen: [] as ReadonlyArray<Kind>,
  tracked: { domains: 0, names: 0 },
  keys: [] as ReadonlyArray<ExaminedKey>,
  sources: [] as ReadonlyArray<Operate.SourceAddress>,
})

/** Reads what needs the tables of this release. */
const recordsIn = (url: Redacted.Redacted) =>
  Effect.all({ sources: addressViews, differences: DirectoryAudit.audit() }).pipe(
    Effect.provide(Database.layer({ url, connections: 1, applicationName: "waybill doctor" })),
  )

const ofDatabase = Effect.fnUntraced(function* (url: Redacted.Redacted) {
  const examined = yield* DatabaseExamination.examine(url)
  const now = yield* Clock.currentTimeMillis
  const isCurrent = examined.schema.pending.length === 0
  const { differences, sources } = isCurrent ? yield* recordsIn(url) : { differences: [], sources: [] }
  return {
    findings: [
      DatabaseChecks.server(examined),
      DatabaseChecks.schema(examined),
      DatabaseChecks.nodes(examined),
      DatabaseChecks.cells(examined, differences),
      DatabaseChecks.clock(examined, now),
    ],
    chosen: examined.transports,
    tracked: { domains: examined.tracked, names: examined.tracking_domains },
    keys: examined.keys,
    sources,
  }
})
