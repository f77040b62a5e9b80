import { Array, Result, Schema } from "effect"
import type * as Aggregate from "./Aggregate.ts"
import { DkimKey } from "./DkimKey.ts"
import * as DnsFinding from "./DnsFinding.ts"
import * as DomainName from "./DomainName.ts"
import { DomainAlreadyExists, DomainNotFound, NoEd25519Key, NotBelowDomain, TooManyDomains } from "./DomainRefusal.ts"
import * as DomainSchedule from "./DomainSchedule.ts"
import * as DomainStatus from "./DomainStatus.ts"
import * as Ed25519Key from "./Ed25519Key.ts"
import * as Id from "./Id.ts"
import { NothingNew } from "./Refusal.ts"
import * as Timestamp from "./Timestamp.ts"
import * as Tracking from "./Tracking.ts"
import * as TrackingDomain from "./TrackingDomain.ts"

export const stream = "domain" as const

/**
 * Maximum number of domains per account: enough for a domain per customer of a platform, few enough to read as one
 * list.
 */
export const MAX_DOMAINS = 1_000

/** Transport of this domain's mail; `null` uses the instance's transport. */
export const TransportChoice = Schema.NullOr(Schema.Literals(["capture", "relay", "direct"]))
export type TransportChoice = typeof TransportChoice.Type

const at = Timestamp.Timestamp
const named = { domain_id: Id.DomainId, name: DomainName.DomainName }

/**
 * Every check is an event, even if it found no change, so that "last checked" and "next check" come from the log like
 * the rest. Backoff limits this to about 80 events in the first three days and one a day afterwards.
 */
export const Event = Schema.TaggedUnion({
  DomainAdded: { ...named, dkim: DkimKey, transport: TransportChoice, next_check_at: at, at },
  DomainChecked: { records: Schema.Array(DnsFinding.DnsFinding), next_check_at: Schema.NullOr(at), at },
  /** `reserved`: nobody can publish DNS records under this name, so it is trusted while its mail is captured. */
  DomainVerified: { ...named, method: Schema.Literals(["dns", "reserved"]), at },
  DomainDegraded: { ...named, at },
  DomainFailed: { ...named, at },
  DkimRotated: { dkim: DkimKey, next_check_at: at, at },
  DkimActivated: { selector: DkimKey.fields.selector, at },
  ...Ed25519Key.EVENTS,
  DomainTransportChanged: { transport: TransportChoice, at },
  DomainTrackingChanged: { ...Tracking.Tracking.fields, at },
  ...TrackingDomain.EVENTS,
  DomainRemoved: { ...named, at },
})
export type Event = typeof Event.Type

export interface Domain {
  readonly _tag: "Domain"
  readonly domain_id: Id.DomainId
  readonly name: DomainName.DomainName
  readonly status: DomainStatus.Status
  /** The key that signs mail. */
  readonly dkim: DkimKey
  /** The key that replaces `dkim` once its DNS record is published. */
  readonly next_dkim: DkimKey | null
  readonly rotations: number
  /** Absent if the domain never had an Ed25519 key. */
  readonly ed25519?: Ed25519Key.Ed25519Key
  readonly transport: TransportChoice
  /** Default tracking of this domain's mail; absent if nothing is tracked. */
  readonly tracking?: Tracking.Tracking
  /** Absent if links use the service's own name. */
  readonly tracking_domain?: TrackingDomain.TrackingDomain
  readonly records: ReadonlyArray<DnsFinding.DnsFinding>
  /** Number of checks since the wait for DNS began. It sets the interval of the next check. */
  readonly checks: number
  readonly created_at: Timestamp.Timestamp
  /** Time of the first verification. */
  readonly verified_at: Timestamp.Timestamp | null
  readonly last_checked_at: Timestamp.Timestamp | null
  readonly next_check_at: Timestamp.Timestamp | null
  /** When the present status began. */
  readonly since: Timestamp.Timestamp
}

export type State =
  | { readonly _tag: "Unborn" }
  | Domain
  | { readonly _tag: "Removed"; readonly name: DomainName.DomainName }

export const initial: State = { _tag: "Unborn" }

export const evolve = (state: State, event: Event): State => {
  if (event._tag === "DomainAdded") return state._tag === "Unborn" ? born(event) : state
  if (state._tag !== "Domain") return state
  switch (event._tag) {
    case "DomainChecked":
      return {
        ...withLooked(state, event.records),
        records: event.records,
        checks: state.checks + 1,
        last_checked_at: event.at,
        next_check_at: event.next_check_at,
      }
    case "DomainVerified":
      return { ...state, status: "verified", since: event.at, verified_at: state.verified_at ?? event.at }
    case "DomainDegraded":
      return { ...state, status: "degraded", since: event.at }
    case "DomainFailed":
      return { ...state, status: "failed", since: event.at }
    case "DkimRotated": {
      const next = { ...state, rotations: state.rotations + 1, checks: 0, next_check_at: event.next_check_at }
      // Before the domain can send, no mail was signed with the old key, so the new one replaces it at once.
      return DomainStatus.sends(state.status)
        ? { ...next, next_dkim: event.dkim }
        : { ...next, dkim: event.dkim, next_dkim: null }
    }
    case "DkimActivated":
      return state.next_dkim?.selector === event.selector ? { ...state, dkim: state.next_dkim, next_dkim: null } : state
    case "Ed25519Made":
      return withEd25519({ ...state, checks: 0, next_check_at: event.next_check_at }, event)
    case "Ed25519Suspended":
      // `checks: 0` makes the next checks as frequent as for a new key.
      return withEd25519({ ...state, checks: 0 }, event)
    case "Ed25519Activated":
    case "Ed25519Removed":
      return withEd25519(state, event)
    case "DomainTransportChanged":
      return { ...state, transport: event.transport }
    case "DomainTrackingChanged": {
      const { tracking: _, ...others } = state
      const tracking = Tracking.wished(undefined, event)
      return tracking === undefined ? others : { ...others, tracking }
    }
    case "TrackingDomainSet": {
      const { name, next_check_at } = event
      const records = TrackingDomain.without(state.records)
      return { ...state, tracking_domain: { name, verified: false }, records, checks: 0, next_check_at }
    }
    case "TrackingDomainRemoved": {
      const { tracking_domain: _, ...others } = state
      return { ...others, records: TrackingDomain.without(state.records) }
    }
    case "DomainRemoved":
      return { _tag: "Removed", name: state.name }
  }
}

const withEd25519 = (state: Domain, event: Ed25519Key.Event): Domain => {
  const ed25519 = Ed25519Key.evolve(state.ed25519, event)
  return ed25519 === undefined ? state : { ...state, ed25519 }
}

const withLooked = (state: Domain, records: ReadonlyArray<DnsFinding.DnsFinding>): Domain =>
  state.tracking_domain === undefined
    ? state
    : { ...state, tracking_domain: TrackingDomain.looked(state.tracking_domain, state.name, records) }

const born = (added: typeof Event.cases.DomainAdded.Type): Domain => ({
  _tag: "Domain",
  domain_id: added.domain_id,
  name: added.name,
  status: "pending",
  dkim: added.dkim,
  next_dkim: null,
  rotations: 0,
  transport: added.transport,
  records: [],
  checks: 0,
  created_at: added.at,
  verified_at: null,
  last_checked_at: null,
  next_check_at: added.next_check_at,
  since: added.at,
})

/** Returns `wb1` first and one higher at each rotation, so that a selector never names two keys. */
export const nextSelector = (domain: Domain | null, algorithm: DkimKey["algorithm"]): string =>
  algorithm === "ed25519" ? Ed25519Key.nextSelector(domain?.ed25519) : `wb${domain === null ? 1 : domain.rotations + 2}`

type Keys = Pick<Domain, "dkim" | "next_dkim" | "ed25519">

/** The keys whose records the owner should publish now; the key that verification needs comes first. */
export const publishedKeys = ({ dkim, next_dkim, ed25519 }: Keys): Array.NonEmptyReadonlyArray<DkimKey> => [
  dkim,
  ...(next_dkim === null ? [] : [next_dkim]),
  ...Ed25519Key.published(ed25519),
]

/** The keys that sign mail now. The Ed25519 key never signs alone. */
export const signingKeys = ({ dkim, ed25519 }: Keys): Array.NonEmptyReadonlyArray<DkimKey> =>
  ed25519?.signs === true && ed25519.dkim !== null ? [dkim, ed25519.dkim] : [dkim]

type Decide<Error> = Aggregate.Decide<State, Event, Error>

const ofDomain =
  <Error>(
    decide: (domain: Domain) => Result.Result<Array.NonEmptyReadonlyArray<Event>, Error>,
  ): Decide<Error | DomainNotFound> =>
  (state) =>
    state._tag === "Domain" ? decide(state) : Result.fail(new DomainNotFound())

export interface Addition {
  readonly now: Timestamp.Timestamp
  readonly domainId: Id.DomainId
  readonly name: DomainName.DomainName
  readonly dkim: DkimKey
  readonly transport: TransportChoice
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
  }: Addition): Decide<DomainAlreadyExists | NothingNew | TooManyDomains> =>
  (state) => {
    if (taken) return Result.fail(new DomainAlreadyExists({ domain: name }))
    if (others >= MAX_DOMAINS) return Result.fail(new TooManyDomains({ most: MAX_DOMAINS }))
    if (state._tag !== "Unborn") return Result.fail(new NothingNew())
    const ids = { domain_id: domainId, name }
    const trusted = captured && DomainName.isReserved(name)
    const next_check_at = trusted
      ? Timestamp.plus(now, DomainSchedule.DAILY_MS)
      : DomainSchedule.whilePending(now, now, 0)
    const added: Event = { _tag: "DomainAdded", ...ids, dkim, transport, next_check_at, at: now }
    return Result.succeed(trusted ? [added, { _tag: "DomainVerified", ...ids, method: "reserved", at: now }] : [added])
  }

/**
 * Records a DNS check. Only a conclusive answer about the signing RSA key changes the status of the domain; a DNS
 * failure is recorded but changes nothing. A check within a minute of the last one with the same result is not
 * recorded.
 */
export const recordCheck = (
  now: Timestamp.Timestamp,
  findings: ReadonlyArray<DnsFinding.DnsFinding>,
): Decide<NothingNew | DomainNotFound> =>
  ofDomain((domain) => {
    const records = DnsFinding.tidy(findings)
    const facts = [...consequences(domain, records, now), ...Ed25519Key.looked(domain.ed25519, records, now)]
    return checked(domain, records, facts, now)
  })

/**
 * Verifies a reserved name whose mail is captured, which needs no DNS. Replaces `recordCheck` for such a domain, on
 * request and on schedule, so that a change to a real transport is noticed.
 */
export const verifyReserved = (now: Timestamp.Timestamp): Decide<NothingNew | DomainNotFound> =>
  ofDomain((domain) => {
    const { domain_id, ed25519, name, next_dkim } = domain
    if (!DomainName.isReserved(name)) return Result.fail(new NothingNew())
    const facts: Event[] = []
    if (next_dkim !== null) facts.push({ _tag: "DkimActivated", selector: next_dkim.selector, at: now })
    const waiting = Ed25519Key.waiting(ed25519)
    if (waiting !== null) facts.push({ _tag: "Ed25519Activated", selector: waiting.selector, at: now })
    if (domain.status !== "verified")
      facts.push({ _tag: "DomainVerified", domain_id, name, method: "reserved", at: now })
    return checked(domain, [], facts, now)
  })

const checked = (
  domain: Domain,
  records: ReadonlyArray<DnsFinding.DnsFinding>,
  facts: ReadonlyArray<Event>,
  now: Timestamp.Timestamp,
): Result.Result<Array.NonEmptyReadonlyArray<Event>, NothingNew> => {
  const repeats = facts.length === 0 && DnsFinding.same(records, domain.records) && !DomainSchedule.isDue(domain, now)
  if (repeats) return Result.fail(new NothingNew())
  const looked: Event = { _tag: "DomainChecked", records, next_check_at: null, at: now }
  const then = [looked, ...facts].reduce<State>(evolve, domain)
  const next_check_at = then._tag === "Domain" ? DomainSchedule.next(then, now) : null
  return Result.succeed([{ ...looked, next_check_at }, ...facts])
}

const consequences = (
  domain: Domain,
  records: ReadonlyArray<DnsFinding.DnsFinding>,
  now: Timestamp.Timestamp,
): ReadonlyArray<Event> => {
  const ids = { domain_id: domain.domain_id, name: domain.name }
  const facts: Event[] = []
  const next = domain.next_dkim
  const rotated = next !== null && DnsFinding.ofSelector(records, next.selector) === "verified"
  if (rotated) facts.push({ _tag: "DkimActivated", selector: next.selector, at: now })
  const found = rotated ? "verified" : DnsFinding.ofSelector(records, domain.dkim.selector)
  if (found === "unavailable") return facts
  if (found === "verified") {
    // Nobody owns a reserved name, so a DNS answer about it proves nothing.
    if (domain.status !== "verified" && !DomainName.isReserved(domain.name))
      facts.push({ _tag: "DomainVerified", ...ids, method: "dns", at: now })
    return facts
  }
  if (domain.status === "verified") facts.push({ _tag: "DomainDegraded", ...ids, at: now })
  else if (domain.status !== "failed" && now >= DomainSchedule.deadline(domain))
    facts.push({ _tag: "DomainFailed", ...ids, at: now })
  return facts
}

export const rotateDkim = (now: Timestamp.Timestamp, dkim: DkimKey): Decide<DomainNotFound> =>
  ofDomain(() =>
    Result.succeed(
      Array.of<Event>({ _tag: "DkimRotated", dkim, next_check_at: DomainSchedule.whilePending(now, now, 0), at: now }),
    ),
  )

/** Adds an Ed25519 key beside the RSA key. A domain that has one keeps it. */
export const addEd25519 = (now: Timestamp.Timestamp, dkim: DkimKey): Decide<NothingNew | DomainNotFound> =>
  ofDomain((domain) => (hasEd25519(domain) ? Result.fail(new NothingNew()) : ed25519Made(now, dkim)))

export const rotateEd25519 = (now: Timestamp.Timestamp, dkim: DkimKey): Decide<NoEd25519Key | DomainNotFound> =>
  ofDomain((domain) =>
    hasEd25519(domain) ? ed25519Made(now, dkim) : Result.fail(new NoEd25519Key({ domain: domain.name })),
  )

export const removeEd25519 = (now: Timestamp.Timestamp): Decide<NothingNew | DomainNotFound> =>
  ofDomain((domain) =>
    hasEd25519(domain)
      ? Result.succeed(Array.of<Event>({ _tag: "Ed25519Removed", at: now }))
      : Result.fail(new NothingNew()),
  )

export const hasEd25519 = ({ ed25519 }: Pick<Domain, "ed25519">): boolean => (ed25519?.dkim ?? null) !== null

const ed25519Made = (now: Timestamp.Timestamp, dkim: DkimKey) =>
  Result.succeed(
    Array.of<Event>({ _tag: "Ed25519Made", dkim, next_check_at: DomainSchedule.whilePending(now, now, 0), at: now }),
  )

export const chooseTransport = (
  now: Timestamp.Timestamp,
  transport: TransportChoice,
): Decide<NothingNew | DomainNotFound> =>
  ofDomain((domain) =>
    domain.transport === transport
      ? Result.fail(new NothingNew())
      : Result.succeed(Array.of<Event>({ _tag: "DomainTransportChanged", transport, at: now })),
  )

export interface TrackingWish extends Tracking.Wish {
  /** The tracking domain: `null` removes it, absent keeps it. */
  readonly domain?: DomainName.DomainName | null | undefined
}

export const track = (
  now: Timestamp.Timestamp,
  { domain: wished, ...wish }: TrackingWish,
): Decide<NothingNew | DomainNotFound | NotBelowDomain> =>
  ofDomain<NothingNew | NotBelowDomain>(({ name, tracking = Tracking.NONE, tracking_domain }) => {
    const facts: Event[] = []
    const { clicks, opens } = Tracking.wished(tracking, wish) ?? Tracking.NONE
    if (opens !== tracking.opens || clicks !== tracking.clicks)
      facts.push({ _tag: "DomainTrackingChanged", opens, clicks, at: now })
    if (wished === null && tracking_domain !== undefined) facts.push({ _tag: "TrackingDomainRemoved", at: now })
    if (typeof wished === "string" && wished !== tracking_domain?.name) {
      if (!TrackingDomain.isBelow(wished, name))
        return Result.fail(new NotBelowDomain({ name: wished, domain: name, path: "tracking_domain" }))
      const next_check_at = DomainSchedule.whilePending(now, now, 0)
      facts.push({ _tag: "TrackingDomainSet", name: wished, next_check_at, at: now })
    }
    return Array.isReadonlyArrayNonEmpty(facts) ? Result.succeed(facts) : Result.fail(new NothingNew())
  })

export const remove = (now: Timestamp.Timestamp): Decide<DomainNotFound> =>
  ofDomain(({ domain_id, name }) =>
    Result.succeed(Array.of<Event>({ _tag: "DomainRemoved", domain_id, name, at: now })),
  )
