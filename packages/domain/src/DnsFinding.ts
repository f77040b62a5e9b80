import { Schema } from "effect"
import * as Text from "./Text.ts"

export const Purpose = Schema.Literals(["dkim", "return_path", "spf", "dmarc", "tracking"])
export type Purpose = typeof Purpose.Type

/** `unavailable` is DNS in trouble (SERVFAIL, a timeout): no evidence in either direction. */
export const Status = Schema.Literals(["verified", "missing", "mismatch", "unavailable"])
export type Status = typeof Status.Type

/** What an event keeps of strangers' answers. */
export const MAX_FOUND = 10
export const MAX_FOUND_CHARS = 1024
export const MAX_ERROR_CHARS = 512
/** More records than these are nobody's setup. */
export const MAX_FINDINGS = 20

/** What DNS answered for one record that a domain's owner was asked to publish. */
export const DnsFinding = Schema.Struct({
  purpose: Purpose,
  /** Relative to the domain; tells two DKIM selectors apart while a key is being replaced. */
  host: Text.Stored,
  status: Status,
  found: Schema.Array(Text.Stored),
  /** The classic mistake it looks like, or DNS's own word, such as NXDOMAIN. */
  error: Schema.NullOr(Text.Stored),
})
export type DnsFinding = typeof DnsFinding.Type

/** Picks the fields of a finding out of whatever richer record a checker returns, clipped to what an event may hold. */
export const tidy = (findings: ReadonlyArray<DnsFinding>): ReadonlyArray<DnsFinding> =>
  findings.slice(0, MAX_FINDINGS).map(({ purpose, host, status, found, error }) => ({
    purpose,
    host: Text.clip(host, MAX_FOUND_CHARS),
    status,
    found: found.slice(0, MAX_FOUND).map((text) => Text.clip(text, MAX_FOUND_CHARS)),
    error: error === null ? null : Text.clip(error, MAX_ERROR_CHARS),
  }))

export const dkimHost = (selector: string): string => `${selector}._domainkey`

/** What the findings say about one DKIM key; a key that was not looked for is unknown. */
export const ofSelector = (findings: ReadonlyArray<DnsFinding>, selector: string): Status => {
  const host = dkimHost(selector)
  return findings.find((finding) => finding.purpose === "dkim" && finding.host === host)?.status ?? "unavailable"
}

export const same = (a: ReadonlyArray<DnsFinding>, b: ReadonlyArray<DnsFinding>): boolean =>
  JSON.stringify(a) === JSON.stringify(b)
