import * as DnsAdvice from "@waybill/domain/domain/DnsAdvice"
import * as Table from "@waybill/domain/values/Table"
import type { DnsRecord, Domain } from "@waybill/client/Waybill"

const STATES: { readonly [status: string]: string } = {
  pending: "cannot send yet: its DNS is not verified",
  verified: "is verified and can send",
  degraded: "can still send, but its DNS is no longer as required; after 72 hours it cannot send any more",
  failed: "cannot send: its DNS was not verified in time",
}

/** Explains the state of a domain in sentences. The text holds nothing of what DNS returned. */
export const domainText = (domain: Domain): string => {
  const { name, records, status } = domain
  const [broken, unchecked] = [records.filter(isBroken), records.filter(({ status }) => status === "not_checked")]
  const state = `The domain ${name} ${Table.at(STATES, status) ?? `is ${status}`}.`
  if (DnsAdvice.needsNoDns(domain)) return `${state} ${DnsAdvice.NEEDS_NO_DNS}`
  if (broken.length === 0 && unchecked.length === 0) return `${state} All of its DNS records are correct.`
  return [state, ...broken.map(recordText), uncheckedText(unchecked)].filter((part) => part !== "").join(" ")
}

const isBroken = ({ status }: DnsRecord): boolean => status !== "verified" && status !== "not_checked"

const PROBLEMS: { readonly [status: string]: string } = {
  missing: "does not exist",
  mismatch: "has another value",
  unavailable: "could not be read, because DNS did not answer",
}

const recordText = ({ name, purpose, required, status, type }: DnsRecord): string =>
  `The ${type} record ${name} (${purpose}${required ? ", required" : ", recommended"}) ${Table.at(PROBLEMS, status) ?? `is ${status}`}.`

const uncheckedText = (records: ReadonlyArray<DnsRecord>): string =>
  records.length === 0 ? "" : `${records.length} of its DNS records were not checked yet.`
