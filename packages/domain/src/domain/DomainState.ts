import { type Array, Result, Schema } from "effect"
import type * as Aggregate from "../values/Aggregate.ts"
import { DkimKey } from "./DkimKey.ts"
import * as DnsFinding from "./DnsFinding.ts"
import * as DomainName from "../values/DomainName.ts"
import * as DomainRefusal from "./DomainRefusal.ts"
import * as DomainStatus from "./DomainStatus.ts"
import * as Ed25519Key from "./Ed25519Key.ts"
import * as Id from "../values/Id.ts"
import * as Timestamp from "../values/Timestamp.ts"
import * as Tracking from "./Tracking.ts"
import * as TrackingDomain from "./TrackingDomain.ts"

/** Transport of this domain's mail; `null` uses the instance's transport. */
export const TransportChoice = Schema.NullOr(Schema.Literals(["capture", "relay", "direct", "nodemailer"]))
export type TransportChoice = typeof TransportChoice.Type

const at = Timestamp.Timestamp
const named = { domain_id: Id.DomainId, name: DomainName.DomainName }

/**
 * Every check is an event, even if it found no change, so that "last checked" and "next check" come from the log like
 * the rest. Backoff limits this to about 80 events in the first three days and one a day afterwards.
 */
export const Event = Schema.TaggedUnion({
  DomainAdded: { ...named, dkim: DkimKey, transport: TransportChoice, next_check_at: at, at },
  DomainChecked: {
    records: Schema.Array(DnsFinding.DnsFinding),
    /** Name of the zone that holds the domain; absent if the check did not find it. */
    zone: Schema.optionalKey(DomainName.DomainName),
    next_check_at: Schema.NullOr(at),
    at,
  },
  /** `reserved`: nobody can publish DNS records under this name, so it is trusted while its mail is captured. */
  DomainVerified: { ...named, method: Schema.Literals(["dns", "reserved"]), at },
  DomainDegraded: { ...named, at },
  DomainFailed: { ...named, at },
  DkimRotated: { dkim: DkimKey, next_check_at: at, at },
  DkimActivated: { selector: DkimKey.fields.selector, at },
  ...Ed25519Key.EVENTS,
  DomainTransportChanged: { transport: TransportChoice, at },
  DomainTrackingChanged: { ...Tracking.Tracking.fields, at },
  /** Whether mail to addresses of this domain is received. */
  DomainReceivingChanged: { receiving: Schema.Boolean, next_check_at: Schema.NullOr(at), at },
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
  /** Name of the zone that holds the domain, as DNS last told; absent if it never did. */
  readonly zone?: DomainName.DomainName
  /** Default tracking of this domain's mail; absent if nothing is tracked. */
  readonly tracking?: Tracking.Tracking
  /** Present if mail to this domain is received. */
  readonly receiving?: true
  /** Absent if links use the service's own name. */
  readonly tracking_domain?: TrackingDomain.TrackingDomain
  /** Times at which the tracking domain was last set; absent if it never was. */
  readonly tracking_domain_changes?: ReadonlyArray<Timestamp.Timestamp>
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
  | { readonly _tag: "NotCreated" }
  | Domain
  | { readonly _tag: "Removed"; readonly name: DomainName.DomainName }

export const initial: State = { _tag: "NotCreated" }

export const evolve = (state: State, event: Event): State => {
  if (event._tag === "DomainAdded") return state._tag === "NotCreated" ? created(event) : state
  if (state._tag !== "Domain") return state
  switch (event._tag) {
    case "DomainChecked":
      return {
        ...withFindings(state, event.records),
        ...(event.zone === undefined ? {} : { zone: event.zone }),
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
      // The key of a domain that cannot send yet has signed no mail, so the new one replaces it at once.
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
      const tracking = Tracking.apply(undefined, event)
      return tracking === undefined ? others : { ...others, tracking }
    }
    case "DomainReceivingChanged": {
      const { receiving: _, ...others } = state
      const records = state.records.filter(({ purpose }) => purpose !== "receiving")
      const next = { ...others, records, next_check_at: event.next_check_at }
      return event.receiving ? { ...next, receiving: true, checks: 0 } : next
    }
    case "TrackingDomainSet": {
      const { name, next_check_at } = event
      const records = TrackingDomain.withoutFindings(state.records)
      const tracking_domain_changes = TrackingDomain.addChange(state.tracking_domain_changes, event.at)
      const tracking_domain = { name, verified: false }
      return { ...state, tracking_domain, tracking_domain_changes, records, checks: 0, next_check_at }
    }
    case "TrackingDomainRemoved": {
      const { tracking_domain: _, ...others } = state
      return { ...others, records: TrackingDomain.withoutFindings(state.records) }
    }
    case "DomainRemoved":
      return { _tag: "Removed", name: state.name }
  }
}

const withEd25519 = (state: Domain, event: Ed25519Key.Event): Domain => {
  const ed25519 = Ed25519Key.evolve(state.ed25519, event)
  return ed25519 === undefined ? state : { ...state, ed25519 }
}

const withFindings = (state: Domain, records: ReadonlyArray<DnsFinding.DnsFinding>): Domain =>
  state.tracking_domain === undefined
    ? state
    : { ...state, tracking_domain: TrackingDomain.applyFindings(state.tracking_domain, state.name, records) }

const created = (event: typeof Event.cases.DomainAdded.Type): Domain => ({
  _tag: "Domain",
  domain_id: event.domain_id,
  name: event.name,
  status: "pending",
  dkim: event.dkim,
  next_dkim: null,
  rotations: 0,
  transport: event.transport,
  records: [],
  checks: 0,
  created_at: event.at,
  verified_at: null,
  last_checked_at: null,
  next_check_at: event.next_check_at,
  since: event.at,
})

export type Decide<Error> = Aggregate.Decide<State, Event, Error>

/** Turns a decision about an existing domain into one about any state; refuses if there is no domain. */
export const ofDomain =
  <Error>(
    decide: (domain: Domain) => Result.Result<Array.NonEmptyReadonlyArray<Event>, Error>,
  ): Decide<Error | DomainRefusal.DomainNotFound> =>
  (state) =>
    state._tag === "Domain" ? decide(state) : Result.fail(new DomainRefusal.DomainNotFound())
