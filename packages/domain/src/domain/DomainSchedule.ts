import type * as DomainStatus from "./DomainStatus.ts"
import * as Ed25519Key from "./Ed25519Key.ts"
import * as DomainName from "../values/DomainName.ts"
import * as Timestamp from "../values/Timestamp.ts"
import type * as TrackingDomain from "./TrackingDomain.ts"

/** How long a domain may wait for its DNS records, and how long a record may be missing, before the domain fails. */
export const GRACE_MS = 72 * Timestamp.HOUR
/** The first check runs after a minute; each interval doubles, up to an hour. */
export const FIRST_PAUSE_MS = Timestamp.MINUTE
export const LONGEST_PAUSE_MS = Timestamp.HOUR
export const DAILY_MS = Timestamp.DAY
/** A check within this time of the last one, with the same result, is not recorded. */
export const SAME_CHECK_MS = Timestamp.MINUTE

interface CheckedDomain {
  readonly status: DomainStatus.Status
  readonly since: Timestamp.Timestamp
  readonly checks: number
  readonly next_dkim: unknown
  readonly ed25519?: Ed25519Key.Ed25519Key
  readonly name: string
  readonly tracking_domain?: TrackingDomain.TrackingDomain
  readonly last_checked_at: Timestamp.Timestamp | null
}

/** When a domain without a valid DNS record fails. */
export const deadline = ({ since }: CheckedDomain): Timestamp.Timestamp => Timestamp.plus(since, GRACE_MS)

export const pendingCheckAt = (
  now: Timestamp.Timestamp,
  since: Timestamp.Timestamp,
  checks: number,
): Timestamp.Timestamp => {
  const pause = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(checks, 10), LONGEST_PAUSE_MS)
  const end = Timestamp.plus(since, GRACE_MS)
  // The check at the deadline decides. After it, which happens when DNS itself failed, checks run hourly.
  return end > now ? Timestamp.earliest(Timestamp.plus(now, pause), end) : Timestamp.plus(now, pause)
}

/**
 * Returns the time of the next check. A failed domain is checked only on request, so that an old typo costs nothing. A
 * record that is expected but not yet visible is checked hourly for a while, on a verified domain too.
 */
export const next = (domain: CheckedDomain, now: Timestamp.Timestamp): Timestamp.Timestamp | null => {
  switch (domain.status) {
    case "failed":
      return null
    case "pending":
      return pendingCheckAt(now, domain.since, domain.checks)
    case "degraded":
      return now < deadline(domain)
        ? Timestamp.earliest(Timestamp.plus(now, DAILY_MS), deadline(domain))
        : Timestamp.plus(now, DAILY_MS)
    case "verified":
      return Timestamp.plus(
        now,
        isWaitingForRecord(domain) && domain.checks < ROTATION_CHECKS ? LONGEST_PAUSE_MS : DAILY_MS,
      )
  }
}

const isWaitingForRecord = ({ ed25519, name, next_dkim, tracking_domain }: CheckedDomain): boolean =>
  next_dkim !== null ||
  Ed25519Key.waitingKey(ed25519) !== null ||
  // A reserved name has no owner who could publish a record.
  (tracking_domain?.verified === false && !DomainName.isReserved(name))

/** Number of hourly checks for a new record (three days); after them, daily. */
export const ROTATION_CHECKS = 72

export const isDue = ({ last_checked_at }: CheckedDomain, now: Timestamp.Timestamp): boolean =>
  last_checked_at === null || Timestamp.between(last_checked_at, now) >= SAME_CHECK_MS
