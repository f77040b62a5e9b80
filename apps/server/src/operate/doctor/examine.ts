import * as Dns from "@waybill/mail/dns/Dns"
import * as RelayTransport from "@waybill/mail/transport/RelayTransport"
import * as DatabaseExamination from "@waybill/store/operations/DatabaseExamination"
import type { ExaminedKey } from "@waybill/store/operations/ExaminedKeys"
import { Clock, Effect, Option, type Redacted, Result } from "effect"
import { getServers } from "node:dns"
import { hostname } from "node:os"
import { instanceKeyHere } from "../../boot/instanceKey.ts"
import { Postgres } from "../../boot/Postgres.ts"
import { reveal, type Settings } from "../../boot/Settings.ts"
import { trackingHostOf, trackingUrlOf } from "../../links/tracking.ts"
import * as DatabaseChecks from "./DatabaseChecks.ts"
import { disk } from "./DiskCheck.ts"
import { dkimKeys } from "./checkDkimKeys.ts"
import { broken, type Finding, ok, skipped, warning, type Weight } from "./Finding.ts"
import * as NameChecks from "./NameChecks.ts"
import { type Host, port25 } from "./checkPort25.ts"
import { relay } from "./checkRelay.ts"
import { resolvers } from "./checkResolvers.ts"

export interface Options {
  /** Look at what direct delivery needs, whatever the transport is. */
  readonly direct: boolean
  /** Servers to try port 25 with, instead of those of large receivers. */
  readonly targets: ReadonlyArray<Host>
}

type Kind = Settings["transport"]

/** Everything an instance stands on, one finding a check. Nothing is changed and nothing is sent. */
export const examine = (settings: Settings, options: Options) =>
  Effect.gen(function* () {
    const { chosen, findings, keys, tracked } = yield* databaseFindings(settings)
    const used = new Set<Kind>([settings.transport, ...chosen])
    const name = Option.getOrElse(settings.ehloName, hostname)
    const servers = settings.dnsServers.length === 0 ? getServers() : settings.dnsServers
    const outside = yield* Effect.all(
      [
        disk({ path: settings.data, database: Option.isNone(settings.databaseUrl) }),
        resolvers(servers, used.size === 1 && used.has("capture") && !options.direct ? "warning" : "broken"),
        relayFinding(settings, name, used.has("relay")),
        ...direct(settings, options, name, used),
      ],
      { concurrency: "unbounded" },
    ).pipe(Effect.provide(Dns.Dns.layer(settings.dnsServers.length === 0 ? {} : { servers })))
    const leaves = used.size > 1 || !used.has("capture")
    const signing = yield* signingKeys(settings, keys, leaves ? "broken" : "warning")
    return [...findings, ...outside, tracking(settings, tracked), signing]
  })

const direct = (settings: Settings, { direct, targets }: Options, name: string, used: ReadonlySet<Kind>) => {
  const wanted = direct || used.has("direct")
  const why = "only direct delivery needs it; --direct looks all the same"
  const weight = wanted ? "broken" : "warning"
  return [
    wanted || targets.length > 0 ? port25(targets, name, weight) : Effect.succeed(skipped("port 25", why)),
    wanted ? NameChecks.ehloName(name, NameChecks.ownAddresses(), weight) : Effect.succeed(skipped("ehlo name", why)),
    wanted || used.has("relay")
      ? NameChecks.returnPath(settings.returnPathDomain, Option.isSome(settings.reportsPort))
      : Effect.succeed(skipped("return path", "captured mail does not bounce")),
  ]
}

const relayFinding = (settings: Settings, name: string, used: boolean): Effect.Effect<Finding> => {
  const url = reveal(settings.smtpUrl)
  if (url === undefined) {
    return Effect.succeed(
      used
        ? broken(
            "relay",
            "domains send by a relay, and there is none",
            "Set SMTP_URL, or choose another transport for them.",
          )
        : skipped("relay", "no SMTP_URL is set"),
    )
  }
  const parsed = RelayTransport.parse(url)
  if (Result.isFailure(parsed)) {
    return Effect.succeed(
      broken("relay", parsed.failure.message, "Correct SMTP_URL; the service does not start with it."),
    )
  }
  return relay(parsed.success, { name, weight: used ? "broken" : "warning" })
}

/** What stays on this machine goes without a signature too. */
const signingKeys = (settings: Settings, keys: ReadonlyArray<ExaminedKey>, weight: Weight) =>
  Effect.flatMap(instanceKeyHere(settings), (ring) => dkimKeys(keys, ring, weight)).pipe(
    Effect.catch(({ message }) =>
      Effect.succeed(broken("dkim keys", message, "Correct it; the service does not start with it.")),
    ),
  )

interface Tracked {
  /** Domains whose mail is tracked. */
  readonly domains: number
  /** Domains whose links are to lead over names of their own. */
  readonly names: number
}

/** Refused where it is asked for; but what it needs may have gone since. */
const tracking = (settings: Settings, { domains, names }: Tracked): Finding => {
  const url = trackingUrlOf(settings)
  const host = trackingHostOf(settings)
  if (settings.trackingDomains && host === null)
    return warning(
      "tracking",
      "TRACKING_DOMAINS is on, and there is no name that customers' names could lead to: it is as if it were off",
      "Set TRACKING_URL, or BASE_URL, to an address with a name, under which readers of mail reach this service.",
    )
  if (domains === 0 && names === 0) return skipped("tracking", "no domain has its mail tracked")
  const found = `${domains} ${domains === 1 ? "domain has its" : "domains have their"} mail tracked`
  const own = `${names} ${names === 1 ? "has a name of its" : "have names of their"} own for links`
  if (url === undefined)
    return warning(
      "tracking",
      `${found}, and there is no address that its links could lead to: it goes out untracked`,
      "Set TRACKING_URL, or BASE_URL, to an address under which readers of mail reach this service.",
    )
  if (names > 0 && host === null)
    return warning(
      "tracking",
      `${found}; ${own}, and TRACKING_DOMAINS is off: links lead over ${url}`,
      "Set TRACKING_DOMAINS=on on every node, once the proxy serves TLS for those names.",
    )
  return ok("tracking", `${found}, over ${url}${names === 0 ? "" : `; ${own}`}`)
}

const databaseFindings = (settings: Settings) =>
  Effect.gen(function* () {
    const { url } = yield* Postgres.reach(settings)
    return yield* ofDatabase(url)
  }).pipe(
    Effect.scoped,
    Effect.catchTag("NoDatabase", (nothing) => Effect.succeed(onlyThat(DatabaseChecks.none(nothing)))),
    Effect.catch((failure) => {
      const finding =
        failure._tag === "Unreachable"
          ? DatabaseChecks.unreachable(failure)
          : failure._tag === "MigrationFailed"
            ? broken("schema", failure.message, "Run the newest release of Waybill that any node runs.")
            : broken("database", failure.message, "Mend what it names, or set DATABASE_URL to a Postgres of your own.")
      return Effect.succeed(onlyThat(finding))
    }),
  )

const onlyThat = (finding: Finding) => ({
  findings: [finding],
  chosen: [] as ReadonlyArray<Kind>,
  tracked: { domains: 0, names: 0 },
  keys: [] as ReadonlyArray<ExaminedKey>,
})

const ofDatabase = (url: Redacted.Redacted) =>
  Effect.gen(function* () {
    const examined = yield* DatabaseExamination.examine(url)
    const now = yield* Clock.currentTimeMillis
    return {
      findings: [DatabaseChecks.server(examined), DatabaseChecks.schema(examined), DatabaseChecks.clock(examined, now)],
      chosen: examined.transports,
      tracked: { domains: examined.tracked, names: examined.tracking_domains },
      keys: examined.keys,
    }
  })
