import { Array, Result } from "effect"
import type { DkimKey } from "./DkimKey.ts"
import * as DomainName from "../values/DomainName.ts"
import * as DomainRefusal from "./DomainRefusal.ts"
import * as DomainSchedule from "./DomainSchedule.ts"
import * as DomainState from "./DomainState.ts"
import * as Ed25519Key from "./Ed25519Key.ts"
import type * as Id from "../values/Id.ts"
import { NothingNew } from "../values/Refusal.ts"
import * as Timestamp from "../values/Timestamp.ts"
import * as Tracking from "./Tracking.ts"
import * as TrackingDomain from "./TrackingDomain.ts"

export { Event, evolve, initial, type State } from "./DomainState.ts"

export const stream = "domain" as const

/**
 * Maximum number of domains per account: enough for a domain per customer of a platform, few enough to read as one
 * list.
 */
export const MAX_DOMAINS = 1_000

/** Returns `wb1` first and one higher at each rotation, so that a selector never names two keys. */
export const nextSelector = (domain: DomainState.Domain | null, algorithm: DkimKey["algorithm"]): string =>
  algorithm === "ed25519" ? Ed25519Key.nextSelector(domain?.ed25519) : `wb${domain === null ? 1 : domain.rotations + 2}`

type Keys = Pick<DomainState.Domain, "dkim" | "next_dkim" | "ed25519">

/** The keys whose records the owner should publish now; the key that verification needs comes first. */
export const publishedKeys = ({ dkim, next_dkim, ed25519 }: Keys): Array.NonEmptyReadonlyArray<DkimKey> => [
  dkim,
  ...(next_dkim === null ? [] : [next_dkim]),
  ...Ed25519Key.publishedKeys(ed25519),
]

/** The keys that sign mail now. The Ed25519 key never signs alone. */
export const signingKeys = ({ dkim, ed25519 }: Keys): Array.NonEmptyReadonlyArray<DkimKey> =>
  ed25519?.signs === true && ed25519.dkim !== null ? [dkim, ed25519.dkim] : [dkim]

export interface Addition {
  readonly now: Timestamp.Timestamp
  readonly domainId: Id.DomainId
  readonly name: DomainName.DomainName
  readonly dkim: DkimKey
  readonly transport: DomainState.TransportChoice
  /** Whether the account already has a domain with this name. */
  readonly taken: boolean
  /** Number of domains in the account. */
  readonly others: number
  /** Whether this domain's mail is captured, by its own transport or the instance's. */
  readonly captured: boolean
}

export const add =
  ({
    now,
    domainId,
    name,
    dkim,
    transport,
    taken,
    others,
    captured,
  }: Addition): DomainState.Decide<DomainRefusal.DomainAlreadyExists | NothingNew | DomainRefusal.TooManyDomains> =>
  (state) => {
    if (taken) return Result.fail(new DomainRefusal.DomainAlreadyExists({ domain: name }))
    if (others >= MAX_DOMAINS) return Result.fail(new DomainRefusal.TooManyDomains({ most: MAX_DOMAINS }))
    if (state._tag !== "NotCreated") return Result.fail(new NothingNew())
    const ids = { domain_id: domainId, name }
    const trusted = captured && DomainName.isReserved(name)
    const next_check_at = trusted
      ? Timestamp.plus(now, DomainSchedule.DAILY_MS)
      : DomainSchedule.pendingCheckAt(now, now, 0)
    const added: DomainState.Event = { _tag: "DomainAdded", ...ids, dkim, transport, next_check_at, at: now }
    return Result.succeed(trusted ? [added, { _tag: "DomainVerified", ...ids, method: "reserved", at: now }] : [added])
  }

export const rotateDkim = (now: Timestamp.Timestamp, dkim: DkimKey): DomainState.Decide<DomainRefusal.DomainNotFound> =>
  DomainState.ofDomain(() =>
    Result.succeed(
      Array.of<DomainState.Event>({
        _tag: "DkimRotated",
        dkim,
        next_check_at: DomainSchedule.pendingCheckAt(now, now, 0),
        at: now,
      }),
    ),
  )

/** Adds an Ed25519 key beside the RSA key. A domain that has one keeps it. */
export const addEd25519 = (
  now: Timestamp.Timestamp,
  dkim: DkimKey,
): DomainState.Decide<NothingNew | DomainRefusal.DomainNotFound> =>
  DomainState.ofDomain((domain) => (hasEd25519(domain) ? Result.fail(new NothingNew()) : ed25519Made(now, dkim)))

export const rotateEd25519 = (
  now: Timestamp.Timestamp,
  dkim: DkimKey,
): DomainState.Decide<DomainRefusal.NoEd25519Key | DomainRefusal.DomainNotFound> =>
  DomainState.ofDomain((domain) =>
    hasEd25519(domain) ? ed25519Made(now, dkim) : Result.fail(new DomainRefusal.NoEd25519Key({ domain: domain.name })),
  )

export const removeEd25519 = (
  now: Timestamp.Timestamp,
): DomainState.Decide<NothingNew | DomainRefusal.DomainNotFound> =>
  DomainState.ofDomain((domain) =>
    hasEd25519(domain)
      ? Result.succeed(Array.of<DomainState.Event>({ _tag: "Ed25519Removed", at: now }))
      : Result.fail(new NothingNew()),
  )

export const hasEd25519 = ({ ed25519 }: Pick<DomainState.Domain, "ed25519">): boolean =>
  (ed25519?.dkim ?? null) !== null

const ed25519Made = (now: Timestamp.Timestamp, dkim: DkimKey) =>
  Result.succeed(
    Array.of<DomainState.Event>({
      _tag: "Ed25519Made",
      dkim,
      next_check_at: DomainSchedule.pendingCheckAt(now, now, 0),
      at: now,
    }),
  )

export const chooseTransport = (
  now: Timestamp.Timestamp,
  transport: DomainState.TransportChoice,
): DomainState.Decide<NothingNew | DomainRefusal.DomainNotFound> =>
  DomainState.ofDomain((domain) =>
    domain.transport === transport
      ? Result.fail(new NothingNew())
      : Result.succeed(Array.of<DomainState.Event>({ _tag: "DomainTransportChanged", transport, at: now })),
  )

export interface TrackingChange extends Tracking.Change {
  /** The tracking domain: `null` removes it, absent keeps it. */
  readonly domain?: DomainName.DomainName | null | undefined
}

export type TrackingDomainRefusal = DomainRefusal.NotBelowDomain | DomainRefusal.TooManyTrackingDomains

export const track = (
  now: Timestamp.Timestamp,
  { domain: trackingName, ...change }: TrackingChange,
): DomainState.Decide<NothingNew | DomainRefusal.DomainNotFound | TrackingDomainRefusal> =>
  DomainState.ofDomain<NothingNew | TrackingDomainRefusal>(
    ({ name, tracking = Tracking.NONE, tracking_domain, tracking_domain_changes }) => {
      const events: DomainState.Event[] = []
      const { clicks, opens } = Tracking.apply(tracking, change) ?? Tracking.NONE
      if (opens !== tracking.opens || clicks !== tracking.clicks)
        events.push({ _tag: "DomainTrackingChanged", opens, clicks, at: now })
      if (trackingName === null && tracking_domain !== undefined)
        events.push({ _tag: "TrackingDomainRemoved", at: now })
      if (typeof trackingName === "string" && trackingName !== tracking_domain?.name) {
        if (!TrackingDomain.isBelow(trackingName, name))
          return Result.fail(
            new DomainRefusal.NotBelowDomain({ name: trackingName, domain: name, path: "tracking_domain" }),
          )
        const again_at = TrackingDomain.nextChangeAt(tracking_domain_changes, now)
        if (again_at !== undefined)
          return Result.fail(
            new DomainRefusal.TooManyTrackingDomains({ most: TrackingDomain.MAX_CHANGES_PER_DAY, again_at }),
          )
        const next_check_at = DomainSchedule.pendingCheckAt(now, now, 0)
        events.push({ _tag: "TrackingDomainSet", name: trackingName, next_check_at, at: now })
      }
      return Array.isReadonlyArrayNonEmpty(events) ? Result.succeed(events) : Result.fail(new NothingNew())
    },
  )

/** Turns the receiving of mail on or off. Its record is looked for soon after it is turned on. */
export const receive = (
  now: Timestamp.Timestamp,
  receiving: boolean,
): DomainState.Decide<NothingNew | DomainRefusal.DomainNotFound> =>
  DomainState.ofDomain((domain) => {
    if ((domain.receiving ?? false) === receiving) return Result.fail(new NothingNew())
    const next_check_at = receiving ? DomainSchedule.pendingCheckAt(now, now, 0) : domain.next_check_at
    return Result.succeed(
      Array.of<DomainState.Event>({ _tag: "DomainReceivingChanged", receiving, next_check_at, at: now }),
    )
  })

export interface Update {
  readonly tracking: TrackingChange
  /** `null` keeps what is. */
  readonly receiving: boolean | null
}

/** Decides about both parts, and refuses both if one is refused. */
export const update =
  (
    now: Timestamp.Timestamp,
    { receiving, tracking }: Update,
  ): DomainState.Decide<NothingNew | DomainRefusal.DomainNotFound | TrackingDomainRefusal> =>
  (state) => {
    const events: DomainState.Event[] = []
    for (const decided of [
      track(now, tracking)(state),
      ...(receiving === null ? [] : [receive(now, receiving)(state)]),
    ]) {
      if (Result.isSuccess(decided)) events.push(...decided.success)
      else if (decided.failure._tag !== "NothingNew") return Result.fail(decided.failure)
    }
    return Array.isReadonlyArrayNonEmpty(events) ? Result.succeed(events) : Result.fail(new NothingNew())
  }

export const remove = (now: Timestamp.Timestamp): DomainState.Decide<DomainRefusal.DomainNotFound> =>
  DomainState.ofDomain(({ domain_id, name }) =>
    Result.succeed(Array.of<DomainState.Event>({ _tag: "DomainRemoved", domain_id, name, at: now })),
  )
