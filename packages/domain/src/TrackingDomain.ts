import type * as DnsFinding from "./DnsFinding.ts"
import { DomainName, isReserved } from "./DomainName.ts"
import * as Timestamp from "./Timestamp.ts"

/**
 * A name below a domain that the links of its tracked mail lead over, while DNS leads it to this service. Nothing else
 * hangs on it: without it links lead over the service's own name.
 */
export interface TrackingDomain {
  readonly name: DomainName
  /** Whether DNS led it here when it last had an answer. */
  readonly verified: boolean
}

const at = Timestamp.Timestamp

export const EVENTS = {
  TrackingDomainSet: { name: DomainName, next_check_at: at, at },
  TrackingDomainRemoved: { at },
}

export const isBelow = (name: DomainName, domain: DomainName): boolean => name.endsWith(`.${domain}`)

/** Relative to the domain, as its record is named. */
export const hostOf = (name: DomainName, domain: DomainName): string => name.slice(0, -`.${domain}`.length)

/** What a look into DNS means for it. */
export const looked = (
  tracking: TrackingDomain,
  domain: DomainName,
  records: ReadonlyArray<DnsFinding.DnsFinding>,
): TrackingDomain => {
  const host = hostOf(tracking.name, domain)
  const found = records.find((record) => record.purpose === "tracking" && record.host === host)
  // Silence is not absence.
  if (found === undefined || found.status === "unavailable") return tracking
  // Nobody owns a reserved name, so whatever a resolver says about one proves nothing.
  if (isReserved(domain)) return tracking
  return { ...tracking, verified: found.status === "verified" }
}

/** What was found of a name before says nothing of another, nor of the same one later. */
export const without = (records: ReadonlyArray<DnsFinding.DnsFinding>): ReadonlyArray<DnsFinding.DnsFinding> =>
  records.filter(({ purpose }) => purpose !== "tracking")
