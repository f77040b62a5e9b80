import type * as Contract from "@waybill/api/groups/Domains"
import type * as DomainState from "@waybill/domain/domain/DomainState"
import * as DomainZone from "@waybill/domain/domain/DomainZone"
import type { RecordSettings } from "../settings/Instance.ts"
import * as DomainCommands from "./DomainCommands.ts"

/** Returns a domain with the records to publish and the result of the last DNS check for each. */
export const presentDomain = (record: Omit<DomainState.Domain, "_tag">, settings: RecordSettings): Contract.Domain => {
  const { created_at, domain_id, last_checked_at, name, next_check_at, records, status, verified_at } = record
  const zone = DomainZone.zoneOf(record)
  return {
    object: "domain",
    id: domain_id,
    name,
    status,
    created_at,
    verified_at,
    last_checked_at,
    next_check_at,
    zone,
    open_tracking: record.tracking?.opens ?? false,
    click_tracking: record.tracking?.clicks ?? false,
    tracking_domain: record.tracking_domain?.name ?? null,
    receiving: record.receiving ?? false,
    records: DomainCommands.expectedRecords(record, settings).map((expected) => {
      const finding = records.find(({ host, purpose }) => purpose === expected.purpose && host === expected.host)
      const { error, found, status } = finding ?? { status: "not_checked" as const, found: [], error: null }
      return { priority: null, ...expected, zone_host: DomainZone.hostIn(zone, expected.name), status, found, error }
    }),
  }
}
