import type * as DnsFinding from "./DnsFinding.ts"
import { DomainName, isReserved } from "../values/DomainName.ts"
import * as Timestamp from "../values/Timestamp.ts"

/**
 * A name below a domain that tracked links use while DNS points it to this service. Otherwise links use the service's
 * own name.
 */
export interface TrackingDomain {
  readonly name: DomainName
  /** Whether the last conclusive DNS answer pointed to this service. */
  readonly verified: boolean
}

/**
 * Maximum number of times that the tracking domain of a domain is set within 24 hours. Each new name costs DNS queries,
 * and the proxy a certificate.
 */
export const MAX_CHANGES_PER_DAY = 10

const at = Timestamp.Timestamp

export const EVENTS = {
  TrackingDomainSet: { name: DomainName, next_check_at: at, at },
  TrackingDomainRemoved: { at },
}

export const isBelow = (name: DomainName, domain: DomainName): boolean => name.endsWith(`.${domain}`)

/** Returns the host relative to the domain, as in its DNS record. */
export const hostOf = (name: DomainName, domain: DomainName): string => name.slice(0, -`.${domain}`.length)

/** Adds a change to the times of the last changes. */
export const addChange = (
  changes: ReadonlyArray<Timestamp.Timestamp> | undefined,
  now: Timestamp.Timestamp,
): ReadonlyArray<Timestamp.Timestamp> => [...(changes ?? []), now].slice(-MAX_CHANGES_PER_DAY)

/** Returns when the tracking domain may be changed again; `undefined` if it may be changed now. */
export const nextChangeAt = (
  changes: ReadonlyArray<Timestamp.Timestamp> | undefined,
  now: Timestamp.Timestamp,
): Timestamp.Timestamp | undefined => {
  const [first, ...others] = changes ?? []
  if (first === undefined || others.length + 1 < MAX_CHANGES_PER_DAY) return undefined
  const free = Timestamp.plus(first, Timestamp.DAY)
  return now < free ? free : undefined
}

/** Applies the findings of a DNS check. */
export const applyFindings = (
  tracking: TrackingDomain,
  domain: DomainName,
  records: ReadonlyArray<DnsFinding.DnsFinding>,
): TrackingDomain => {
  const host = hostOf(tracking.name, domain)
  const finding = records.find((record) => record.purpose === "tracking" && record.host === host)
  // A failed query is no evidence of absence.
  if (finding === undefined || finding.status === "unavailable") return tracking
  // A reserved name has no owner, so a DNS answer about it proves nothing.
  if (isReserved(domain)) return tracking
  return { ...tracking, verified: finding.status === "verified" }
}

/** Removes findings about the tracking name. They do not apply to another name, or to the same one set again later. */
export const withoutFindings = (records: ReadonlyArray<DnsFinding.DnsFinding>): ReadonlyArray<DnsFinding.DnsFinding> =>
  records.filter(({ purpose }) => purpose !== "tracking")
