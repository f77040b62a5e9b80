import * as ReportRecords from "./ReportRecords.ts"

/**
 * Records that a customer publishes for a domain. Only DKIM decides whether the domain may send; the others are advice.
 */
export type Purpose = "dkim" | "return_path" | "spf" | "dmarc" | "tracking" | "receiving"

export interface ExpectedRecord {
  readonly purpose: Purpose
  readonly type: "TXT" | "CNAME" | "MX"
  /** Relative to the domain. The zone of its DNS provider may begin higher. */
  readonly host: string
  readonly name: string
  readonly value: string
  /** Preference of an MX record whose value is only the host. */
  readonly priority?: number
  readonly ttl: number
  readonly required: boolean
}

export interface Selector {
  readonly selector: string
  readonly algorithm: "rsa" | "ed25519"
  /** Value of `p=`: base64 of the SubjectPublicKeyInfo for RSA (RFC 6376), of the bare key for Ed25519 (RFC 8463). */
  readonly public_key: string
  /** During a rotation the next key is published before anything depends on it. */
  readonly required: boolean
}

/** Return path of bounces: one CNAME to a name of ours, or an MX with an SPF of the customer's own. */
export type ReturnPath =
  | { readonly kind: "cname"; readonly label: string; readonly target: string }
  | { readonly kind: "mx"; readonly label: string; readonly exchange: string; readonly spf: string }

export interface Settings {
  readonly return_path: ReturnPath | null
  /** Name below the domain that must lead to one of ours before links can use it. */
  readonly tracking?: { readonly host: string; readonly target: string } | undefined
  /** Name of the server that receives mail for the domain, if it is to. */
  readonly mailHost?: string | undefined
}

export const TTL_SECONDS = 3_600
export const MX_PREFERENCE = 10
/** How forms of DNS providers name the domain itself. */
const APEX = "@"

export const expectedRecords = (
  domain: string,
  selectors: ReadonlyArray<Selector>,
  settings: Settings,
): ReadonlyArray<ExpectedRecord> => {
  const record = (fields: Omit<ExpectedRecord, "name" | "ttl">): ExpectedRecord => ({
    ...fields,
    name: `${fields.host}.${domain}`,
    ttl: TTL_SECONDS,
  })
  const keys = selectors.map((key) =>
    record({
      purpose: "dkim",
      type: "TXT",
      host: `${key.selector}._domainkey`,
      value: `v=DKIM1; k=${key.algorithm}; p=${key.public_key}`,
      required: key.required,
    }),
  )
  const { mailHost, return_path, tracking } = settings
  const address =
    return_path?.kind === "cname" ? ReportRecords.addressAt(ReportRecords.DMARC_ADDRESS, return_path.target) : null
  const advice = record({
    purpose: "dmarc",
    type: "TXT",
    host: "_dmarc",
    value: ReportRecords.dmarcPolicy(address),
    required: false,
  })
  const links =
    tracking === undefined
      ? []
      : [record({ purpose: "tracking", type: "CNAME", host: tracking.host, value: tracking.target, required: false })]
  const receiving: ReadonlyArray<ExpectedRecord> =
    mailHost === undefined
      ? []
      : [
          {
            purpose: "receiving",
            type: "MX",
            host: APEX,
            name: domain,
            value: mailHost,
            priority: MX_PREFERENCE,
            ttl: TTL_SECONDS,
            required: false,
          },
        ]
  return [...keys, ...returnPath(return_path).map(record), advice, ...links, ...receiving]
}

const returnPath = (path: ReturnPath | null): ReadonlyArray<Omit<ExpectedRecord, "name" | "ttl">> => {
  if (path === null) return []
  const shared = { host: path.label, required: false }
  // Nothing is gained by a record that leads nowhere.
  if (path.kind === "cname" && !ReportRecords.isReached(path.target)) return []
  if (path.kind === "cname") return [{ ...shared, purpose: "return_path", type: "CNAME", value: path.target }]
  return [
    { ...shared, purpose: "return_path", type: "MX", value: `${MX_PREFERENCE} ${path.exchange}` },
    { ...shared, purpose: "spf", type: "TXT", value: path.spf },
  ]
}
