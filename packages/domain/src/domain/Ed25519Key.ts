import { Schema } from "effect"
import { DkimKey } from "./DkimKey.ts"
import * as DnsFinding from "./DnsFinding.ts"
import * as Timestamp from "../values/Timestamp.ts"

/**
 * A second DKIM key beside the RSA one (RFC 8463). Its signature is optional: it is added while DNS has the record,
 * mail never waits for it, and it does not affect the status of the domain.
 */
export interface Ed25519Key {
  /** Null after removal. */
  readonly dkim: DkimKey | null
  /** The key that replaces `dkim` once DNS has its record. */
  readonly next_dkim: DkimKey | null
  /** Whether the last conclusive DNS answer had the record of `dkim`. */
  readonly signs: boolean
  /** Number of keys ever created, so that a selector never names two keys. */
  readonly made: number
}

const at = Timestamp.Timestamp
const selector = DkimKey.fields.selector

export const EVENTS = {
  Ed25519Made: { dkim: DkimKey, next_check_at: at, at },
  /** DNS has the record: mail is signed with this key too. */
  Ed25519Activated: { selector, at },
  /** The record is gone, so signing stops: nobody could verify the signature. */
  Ed25519Suspended: { selector, at },
  Ed25519Removed: { at },
}
const Event = Schema.TaggedUnion(EVENTS)
export type Event = typeof Event.Type

export const evolve = (key: Ed25519Key | undefined, event: Event): Ed25519Key | undefined => {
  if (event._tag === "Ed25519Made") {
    const count = (key?.made ?? 0) + 1
    // A signing key stays until DNS has the new one; a key that does not sign yet is replaced at once.
    return key?.signs === true
      ? { ...key, next_dkim: event.dkim, made: count }
      : { dkim: event.dkim, next_dkim: null, signs: false, made: count }
  }
  if (key === undefined) return undefined
  switch (event._tag) {
    case "Ed25519Activated": {
      if (key.next_dkim?.selector === event.selector)
        return { ...key, dkim: key.next_dkim, next_dkim: null, signs: true }
      return key.dkim?.selector === event.selector ? { ...key, signs: true } : key
    }
    case "Ed25519Suspended":
      return key.dkim?.selector === event.selector ? { ...key, signs: false } : key
    case "Ed25519Removed":
      return { dkim: null, next_dkim: null, signs: false, made: key.made }
  }
}

/** Returns `wbe` and a number. RSA selectors are `wb` and a number, so the two never collide. */
export const nextSelector = (key: Ed25519Key | undefined): string => `wbe${(key?.made ?? 0) + 1}`

/** The keys whose records the owner should publish now; the signing key comes first. */
export const publishedKeys = (key: Ed25519Key | undefined): ReadonlyArray<DkimKey> =>
  [key?.dkim, key?.next_dkim].filter((each) => each !== null && each !== undefined)

/** The key that would start to sign once DNS has its record. */
export const waitingKey = (key: Ed25519Key | undefined): DkimKey | null =>
  key === undefined ? null : key.signs ? key.next_dkim : (key.next_dkim ?? key.dkim)

/** Returns the events that follow from a DNS check. */
export const applyFindings = (
  key: Ed25519Key | undefined,
  records: ReadonlyArray<DnsFinding.DnsFinding>,
  now: Timestamp.Timestamp,
): ReadonlyArray<Event> => {
  if (key === undefined) return []
  const { dkim, next_dkim, signs } = key
  const statusOf = (one: DkimKey | null) =>
    one === null ? "unavailable" : DnsFinding.ofSelector(records, one.selector)
  const activated = (one: DkimKey): Event => ({ _tag: "Ed25519Activated", selector: one.selector, at: now })
  if (next_dkim !== null && statusOf(next_dkim) === "verified") return [activated(next_dkim)]
  const status = statusOf(dkim)
  // A failed query is no evidence of absence.
  if (dkim === null || status === "unavailable" || (status === "verified") === signs) return []
  return [signs ? { _tag: "Ed25519Suspended", selector: dkim.selector, at: now } : activated(dkim)]
}
