import type { Domain } from "@waybill/api/groups/Domains"

const STATUSES = { verified: "verified", degraded: "partially_failed", failed: "failed" } as const

/** Waybill has no regions. Typed clients need one all the same, so that domains are in Resend's first. */
export const REGION = "us-east-1"

export const fieldsOf = (domain: Domain) => ({
  id: domain.id,
  name: domain.name,
  region: REGION,
  tls: "opportunistic",
  status:
    domain.status === "pending"
      ? domain.last_checked_at === null
        ? "not_started"
        : "pending"
      : STATUSES[domain.status],
  created_at: domain.created_at,
  capabilities: { sending: "enabled", receiving: domain.receiving ? "enabled" : "disabled" },
  open_tracking: domain.open_tracking,
  click_tracking: domain.click_tracking,
  ...(domain.tracking_domain === null
    ? {}
    : { tracking_subdomain: domain.tracking_domain.slice(0, -domain.name.length - 1) }),
})

export const detailOf = (domain: Domain) => ({ object: "domain", ...fieldsOf(domain), records: recordsOf(domain) })

/** Returns a domain as Resend's webhooks have it. */
export const eventDataOf = (domain: Domain) => {
  const { created_at, id, name, region, status } = fieldsOf(domain)
  return { id, name, status, created_at, region, records: recordsOf(domain) }
}

/** The return path is `SPF` as a CNAME too: Resend's package types it so, and programs look for the state of that name. */
const RECORDS = { dkim: "DKIM", spf: "SPF", return_path: "SPF", tracking: "Tracking", receiving: "Receiving" } as const

/** Returns the records to publish. Resend has no word for DMARC, which is only advice. */
const recordsOf = ({ records, status }: Domain) =>
  records.flatMap((record) => {
    if (record.purpose === "dmarc") return []
    const [preference, exchange] =
      record.priority !== null ? [record.priority, record.value] : record.type === "MX" ? record.value.split(" ") : []
    return [
      {
        record: RECORDS[record.purpose],
        name: record.host,
        type: record.type,
        ttl: String(record.ttl),
        status: record.status === "missing" && status === "pending" ? "pending" : RECORD_STATUSES[record.status],
        value: exchange ?? record.value,
        ...(exchange === undefined ? {} : { priority: Number(preference) }),
      },
    ]
  })

const RECORD_STATUSES = {
  not_checked: "not_started",
  verified: "verified",
  missing: "failed",
  mismatch: "failed",
  unavailable: "temporary_failure",
  conflict: "failed",
} as const
