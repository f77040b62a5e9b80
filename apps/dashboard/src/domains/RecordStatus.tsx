import type { DomainRecord } from "../api/Records.ts"
import { Badge, type Tone } from "../ui/display/Badge.tsx"

const TONES: { readonly [S in DomainRecord["status"]]: readonly [tone: Tone, label: string] } = {
  not_checked: ["neutral", "Not checked"],
  verified: ["good", "Verified"],
  missing: ["warn", "Missing"],
  mismatch: ["bad", "Wrong value"],
  unavailable: ["neutral", "DNS unavailable"],
  conflict: ["bad", "Other servers"],
}

/** Result of the last check of a DNS record. */
export const RecordStatus = ({ status }: Pick<DomainRecord, "status">) => {
  const [tone, label] = TONES[status]
  return (
    <Badge tone={tone} dot>
      {label}
    </Badge>
  )
}

/** Codes of records that DNS does not have. */
export const NOT_FOUND: ReadonlySet<string> = new Set(["NXDOMAIN", "NODATA"])

/** Messages for the error codes of DNS. */
const DNS_ERRORS: { readonly [code: string]: string } = {
  NXDOMAIN: "Record not found. DNS changes can take a while to propagate.",
  NODATA: "The name exists, but has no record of this type.",
}

/** Returns the error of a record in words. A fault that names a tag of the record, such as `p=`, keeps its spelling. */
export const recordError = (error: string): string =>
  DNS_ERRORS[error] ?? (/^[a-z]+(?=\s)/u.test(error) ? error.slice(0, 1).toUpperCase() + error.slice(1) : error)
