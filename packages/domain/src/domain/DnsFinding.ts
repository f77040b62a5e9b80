import { Schema } from "effect"
import * as Text from "../values/Text.ts"

export const Purpose = Schema.Literals(["dkim", "return_path", "spf", "dmarc", "tracking", "receiving"])
export type Purpose = typeof Purpose.Type

/**
 * `unavailable` means that DNS failed (SERVFAIL, a timeout), which is evidence for neither presence nor absence. `conflict`:
 * mail to the domain goes to servers of somebody else.
 */
export const Status = Schema.Literals(["verified", "missing", "mismatch", "unavailable", "conflict"])
export type Status = typeof Status.Type

/** Limits on how much of a DNS answer an event keeps. */
export const MAX_FOUND = 10
export const MAX_FOUND_CHARS = 1024
export const MAX_ERROR_CHARS = 512
/** Maximum number of findings per check. No real setup needs more. */
export const MAX_FINDINGS = 20

/** The DNS answer for one record that the domain's owner should publish. */
export const DnsFinding = Schema.Struct({
  purpose: Purpose,
  /** Host name relative to the domain. Distinguishes two DKIM selectors during a key rotation. */
  host: Text.Stored,
  status: Status,
  found: Schema.Array(Text.Stored),
  /** The likely mistake, or the DNS error such as NXDOMAIN. */
  error: Schema.NullOr(Text.Stored),
})
export type DnsFinding = typeof DnsFinding.Type

/** Keeps only the fields of a finding, clipped to the limits above. */
export const clipped = (findings: ReadonlyArray<DnsFinding>): ReadonlyArray<DnsFinding> =>
  findings.slice(0, MAX_FINDINGS).map(({ purpose, host, status, found, error }) => ({
    purpose,
    host: Text.clip(host, MAX_FOUND_CHARS),
    status,
    found: found.slice(0, MAX_FOUND).map((text) => Text.clip(text, MAX_FOUND_CHARS)),
    error: error === null ? null : Text.clip(error, MAX_ERROR_CHARS),
  }))

export const dkimHost = (selector: string): string => `${selector}._domainkey`

/** Returns the status of one DKIM key; `unavailable` for a key that was not checked. */
export const ofSelector = (findings: ReadonlyArray<DnsFinding>, selector: string): Status => {
  const host = dkimHost(selector)
  return findings.find((finding) => finding.purpose === "dkim" && finding.host === host)?.status ?? "unavailable"
}

export const same = (a: ReadonlyArray<DnsFinding>, b: ReadonlyArray<DnsFinding>): boolean =>
  JSON.stringify(a) === JSON.stringify(b)
