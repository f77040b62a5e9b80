import type * as DomainStatus from "./DomainStatus.ts"
import * as Ed25519Key from "./Ed25519Key.ts"
import * as DomainName from "./DomainName.ts"
import * as Timestamp from "./Timestamp.ts"
import type * as TrackingDomain from "./TrackingDomain.ts"

/** How long DNS may take to show a record, and how long it may hide one that was there. */
export const GRACE_MS = 72 * Timestamp.HOUR
/** The first look comes after a minute, each next one after twice the pause, never later than after an hour. */
export const FIRST_PAUSE_MS = Timestamp.MINUTE
export const LONGEST_PAUSE_MS = Timestamp.HOUR
export const DAILY_MS = Timestamp.DAY
/** Looks closer together than this, with the same answer, are one look. */
export const SAME_CHECK_MS = Timestamp.MINUTE

interface Checked {
  readonly status: DomainStatus.Status
  readonly since: Timestamp.Timestamp
  readonly checks: number
  readonly next_dkim: unknown
  readonly ed25519?: Ed25519Key.Ed25519Key
  readonly name: string
  readonly tracking_domain?: TrackingDomain.TrackingDomain
  readonly last_checked_at: Timestamp.Timestamp | null
}

/** When a domain that DNS does not confirm has failed. */
export const deadline = ({ since }: Checked): Timestamp.Timestamp => Timestamp.plus(since, GRACE_MS)

export const whilePending = (
  now: Timestamp.Timestamp,
  since: Timestamp.Timestamp,
  checks: number,
): Timestamp.Timestamp => {
  const pause = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(checks, 10), LONGEST_PAUSE_MS)
  const end = Timestamp.plus(since, GRACE_MS)
  // The look at the deadline itself decides; past it (DNS was in trouble) the pace of an hour goes on.
  return end > now ? Timestamp.earliest(Timestamp.plus(now, pause), end) : Timestamp.plus(now, pause)
}

/**
 * When to look again. A failed domain is looked at only when its owner asks, so a typo of years ago costs nothing. A
 * record that waits to be seen sets the quick pace for a while, on a verified domain too.
 */
export const next = (domain: Checked, now: Timestamp.Timestamp): Timestamp.Timestamp | null => {
  switch (domain.status) {
    case "failed":
      return null
    case "pending":
      return whilePending(now, domain.since, domain.checks)
    case "degraded":
      return now < deadline(domain)
        ? Timestamp.earliest(Timestamp.plus(now, DAILY_MS), deadline(domain))
        : Timestamp.plus(now, DAILY_MS)
    case "verified":
      return Timestamp.plus(
        now,
        waitsForRecord(domain) && domain.checks < ROTATION_CHECKS ? LONGEST_PAUSE_MS : DAILY_MS,
      )
  }
}

const waitsForRecord = ({ ed25519, name, next_dkim, tracking_domain }: Checked): boolean =>
  next_dkim !== null ||
  Ed25519Key.waiting(ed25519) !== null ||
  // Under a reserved name nobody can publish it.
  (tracking_domain?.verified === false && !DomainName.isReserved(name))

/** Hourly looks for a new record, for three days; then daily like the rest. */
export const ROTATION_CHECKS = 72

export const isDue = ({ last_checked_at }: Checked, now: Timestamp.Timestamp): boolean =>
  last_checked_at === null || Timestamp.between(last_checked_at, now) >= SAME_CHECK_MS
