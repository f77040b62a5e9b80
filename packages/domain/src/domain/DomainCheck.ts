import { type Array, Result } from "effect"
import * as DnsFinding from "./DnsFinding.ts"
import * as DomainName from "../values/DomainName.ts"
import type { DomainNotFound } from "./DomainRefusal.ts"
import * as DomainSchedule from "./DomainSchedule.ts"
import * as DomainState from "./DomainState.ts"
import * as Ed25519Key from "./Ed25519Key.ts"
import { NothingNew } from "../values/Refusal.ts"
import type * as Timestamp from "../values/Timestamp.ts"

/**
 * Records a DNS check. Only a conclusive answer about the signing RSA key changes the status of the domain; a DNS
 * failure is recorded but changes nothing. A check within a minute of the last one with the same result is not
 * recorded.
 */
export const recordCheck = (
  now: Timestamp.Timestamp,
  findings: ReadonlyArray<DnsFinding.DnsFinding>,
  zone: string | null = null,
): DomainState.Decide<NothingNew | DomainNotFound> =>
  DomainState.ofDomain((domain) => {
    const records = DnsFinding.clipped(findings)
    const events = [...statusEvents(domain, records, now), ...Ed25519Key.applyFindings(domain.ed25519, records, now)]
    return withCheck(domain, { records, ...zoneIn(domain, zone) }, events, now)
  })

/** A zone is at or above the domain. */
const zoneIn = ({ name }: DomainState.Domain, zone: string | null): Pick<Check, "zone"> => {
  if (zone === null || (zone !== name && !name.endsWith(`.${zone}`))) return {}
  const parsed = DomainName.parse(zone)
  return Result.isSuccess(parsed) ? { zone: parsed.success } : {}
}

/**
 * Verifies a reserved name whose mail is captured, which needs no DNS. Replaces `recordCheck` for such a domain, on
 * request and on schedule, so that a change to a real transport is noticed.
 */
export const verifyReserved = (now: Timestamp.Timestamp): DomainState.Decide<NothingNew | DomainNotFound> =>
  DomainState.ofDomain((domain) => {
    const { domain_id, ed25519, name, next_dkim } = domain
    if (!DomainName.isReserved(name)) return Result.fail(new NothingNew())
    const events: DomainState.Event[] = []
    if (next_dkim !== null) events.push({ _tag: "DkimActivated", selector: next_dkim.selector, at: now })
    const waiting = Ed25519Key.waitingKey(ed25519)
    if (waiting !== null) events.push({ _tag: "Ed25519Activated", selector: waiting.selector, at: now })
    if (domain.status !== "verified")
      events.push({ _tag: "DomainVerified", domain_id, name, method: "reserved", at: now })
    return withCheck(domain, { records: [] }, events, now)
  })

type Check = Pick<typeof DomainState.Event.cases.DomainChecked.Type, "records" | "zone">

/** Puts the check before the events that follow from it, with the time of the next one. */
const withCheck = (
  domain: DomainState.Domain,
  found: Check,
  events: ReadonlyArray<DomainState.Event>,
  now: Timestamp.Timestamp,
): Result.Result<Array.NonEmptyReadonlyArray<DomainState.Event>, NothingNew> => {
  const isSame = DnsFinding.same(found.records, domain.records) && (found.zone ?? domain.zone) === domain.zone
  const repeats = events.length === 0 && isSame && !DomainSchedule.isDue(domain, now)
  if (repeats) return Result.fail(new NothingNew())
  const check: DomainState.Event = { _tag: "DomainChecked", ...found, next_check_at: null, at: now }
  const after = [check, ...events].reduce<DomainState.State>(DomainState.evolve, domain)
  const next_check_at = after._tag === "Domain" ? DomainSchedule.next(after, now) : null
  return Result.succeed([{ ...check, next_check_at }, ...events])
}

/** Returns the changes of key and status that follow from the findings. */
const statusEvents = (
  domain: DomainState.Domain,
  records: ReadonlyArray<DnsFinding.DnsFinding>,
  now: Timestamp.Timestamp,
): ReadonlyArray<DomainState.Event> => {
  const ids = { domain_id: domain.domain_id, name: domain.name }
  const events: DomainState.Event[] = []
  const next = domain.next_dkim
  const rotated = next !== null && DnsFinding.ofSelector(records, next.selector) === "verified"
  if (rotated) events.push({ _tag: "DkimActivated", selector: next.selector, at: now })
  const dkimStatus = rotated ? "verified" : DnsFinding.ofSelector(records, domain.dkim.selector)
  if (dkimStatus === "unavailable") return events
  if (dkimStatus === "verified") {
    // A reserved name has no owner, so a DNS answer about it proves nothing.
    if (domain.status !== "verified" && !DomainName.isReserved(domain.name))
      events.push({ _tag: "DomainVerified", ...ids, method: "dns", at: now })
    return events
  }
  if (domain.status === "verified") events.push({ _tag: "DomainDegraded", ...ids, at: now })
  else if (domain.status !== "failed" && now >= DomainSchedule.deadline(domain))
    events.push({ _tag: "DomainFailed", ...ids, at: now })
  return events
}
