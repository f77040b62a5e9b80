import * as TagList from "../compose/TagList.ts"

/** Local parts of the addresses for aggregate reports, at the domain of return paths. */
export const DMARC_ADDRESS = "dmarc"
export const TLS_ADDRESS = "tlsrpt"

export interface ReportRecord {
  readonly type: "TXT"
  readonly name: string
  readonly value: string
}

/** Whether mail reaches the domain of return paths, which has a name for this machine alone until it is set. */
export const isReached = (returnPathDomain: string): boolean => !/(?:^|\.)localhost$/u.test(returnPathDomain)

/** The address for reports of a kind; null where the domain of return paths is one that no mail reaches. */
export const addressAt = (local: string, returnPathDomain: string): string | null =>
  isReached(returnPathDomain) ? `${local}@${returnPathDomain}` : null

/** The policy that is proposed for a domain without one. */
export const dmarcPolicy = (address: string | null): string =>
  address === null ? "v=DMARC1; p=none;" : `v=DMARC1; p=none; rua=mailto:${address}`

/** The DMARC record of a domain with this address among its recipients of reports; null if it has the address. */
export const dmarcRecord = (domain: string, address: string, found: string | undefined): ReportRecord | null => {
  const record = (value: string): ReportRecord => ({ type: "TXT", name: `_dmarc.${domain}`, value })
  const tags = found === undefined ? undefined : TagList.parse(found)
  if (tags === undefined || !tags.has("p")) return record(dmarcPolicy(address))
  const recipients = (tags.get("rua") ?? "")
    .split(",")
    .map((uri) => uri.trim())
    .filter((uri) => uri !== "")
  const own = `mailto:${address}`.toLowerCase()
  // A recipient may limit the size of its reports: `mailto:a@b.example!10m`.
  if (recipients.some((uri) => uri.toLowerCase().split("!")[0] === own)) return null
  const changed = new Map(tags).set("rua", [...recipients, `mailto:${address}`].join(","))
  return record([...changed].map(([tag, value]) => `${tag}=${value}`).join("; "))
}

/** The record that asks for reports of TLS (RFC 8460 §3). */
export const tlsRecord = (domain: string, address: string): ReportRecord => ({
  type: "TXT",
  name: `_smtp._tls.${domain}`,
  value: `v=TLSRPTv1; rua=mailto:${address}`,
})

/**
 * The name at which the domain of an address agrees to receive reports about another domain (RFC 7489 §7.1). A wildcard
 * there agrees for all domains.
 */
export const authorizationName = (about: string, returnPathDomain: string): string =>
  `${about}._report._dmarc.${returnPathDomain}`

export const AUTHORIZATION = "v=DMARC1"
