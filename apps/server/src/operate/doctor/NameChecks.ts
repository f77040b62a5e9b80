import * as DomainName from "@waybill/domain/values/DomainName"
import * as Dns from "@waybill/mail/dns/Dns"
import * as Network from "@waybill/mail/dns/Network"
import * as ReportRecords from "@waybill/mail/dns/ReportRecords"
import { Effect, Result } from "effect"
import { networkInterfaces } from "node:os"
import * as Finding from "./Finding.ts"

const ehloNameFinding = Finding.of("ehlo name")
const dmarcReportsFinding = Finding.of("dmarc reports")
const returnPathFinding = Finding.of("return path")

/** Returns the public addresses of this machine. Behind a NAT there are none. */
export const ownAddresses = (): ReadonlyArray<string> =>
  Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .map(({ address }) => address)
    .filter((address) => Network.isReachable(address))

/**
 * Checks that the EHLO name has an address, that the address has a PTR record with the name, and that it is an address of
 * this machine if those are public. Large receivers refuse or distrust mail otherwise.
 */
export const ehloName = Effect.fnUntraced(function* (
  name: string,
  own: ReadonlyArray<string>,
  weight: Finding.Severity,
) {
  const bad = (result: string, fix: string) => ehloNameFinding.problem(weight, result, fix)
  if (Result.isFailure(DomainName.parse(name)))
    return bad(`"${name}" is not a public host name`, "Set EHLO_NAME to a full host name, such as mail.example.org.")
  const dns = yield* Dns.Dns
  const forward = yield* Dns.addresses(dns, name)
  if (forward._tag === "Unavailable")
    return bad(`${name} could not be looked up (${forward.reason})`, "Fix DNS first, then check again.")
  if (forward._tag === "NotFound")
    return bad(`${name} has no address (${forward.reason})`, `Publish an A or AAAA record for ${name}.`)
  const elsewhere = own.length > 0 && !own.some((address) => forward.records.includes(address))
  if (elsewhere)
    return bad(
      `${name} points to ${forward.records.join(", ")}, but this machine is ${own.join(", ")}`,
      `Point ${name} to the address that mail is sent from, or set EHLO_NAME to this machine's name.`,
    )
  const back = yield* Effect.forEach(
    forward.records,
    (address) => Effect.map(dns.ptr(address), (answer) => ({ address, answer })),
    { concurrency: "unbounded" },
  )
  const wrong = back.filter(({ answer }) => answer._tag !== "Found" || !answer.records.includes(name.toLowerCase()))
  if (wrong.length === 0) return ehloNameFinding.ok(`${name} points to ${forward.records.join(", ")} and back`)
  const details = wrong.map(({ address, answer }) => `${address} points back to ${namesIn(answer)}`).join("; ")
  return bad(
    `${name}: ${details}`,
    `Ask the owner of the address (your provider) to set its PTR record to ${name}, or set EHLO_NAME to the name in that record.`,
  )
})

const namesIn = (answer: Dns.Answer<string>): string =>
  answer._tag === "Found" ? answer.records.join(", ") : `nothing (${answer.reason})`

/** A domain that nobody has, whose reports only a wildcard authorizes. */
const ANY_DOMAIN = "any-domain.waybill-doctor.example"

/** Checks that the return path's domain agrees to receive DMARC reports about all domains (RFC 7489 §7.1). */
export const reportAuthorization = Effect.fnUntraced(function* (domain: string) {
  if (Result.isFailure(DomainName.parse(domain)) || DomainName.isReserved(domain))
    return dmarcReportsFinding.skipped(`no reports reach ${domain}, which is not a public domain`)
  const dns = yield* Dns.Dns
  const wildcard = ReportRecords.authorizationName("*", domain)
  const fix = `Publish a TXT record ${wildcard} with the value ${ReportRecords.AUTHORIZATION}.`
  const answer = yield* dns.txt(ReportRecords.authorizationName(ANY_DOMAIN, domain))
  if (answer._tag === "Unavailable")
    return dmarcReportsFinding.warning(`${wildcard} could not be looked up (${answer.reason})`, fix)
  return answer._tag === "Found" && answer.records.some((text) => AUTHORIZES.test(text.trim()))
    ? dmarcReportsFinding.ok(`${domain} agrees to receive reports about all domains`)
    : dmarcReportsFinding.warning(`mailbox providers send none: ${wildcard} does not exist`, fix)
})

const AUTHORIZES = /^v\s*=\s*DMARC1\s*(?:;|$)/u

/** Checks that other servers can send bounces to the return path, which would be lost otherwise. */
export const returnPath = Effect.fnUntraced(function* (domain: string, listening: boolean) {
  if (Result.isFailure(DomainName.parse(domain)) || DomainName.isReserved(domain))
    return returnPathFinding.warning(
      `bounces would go to ${domain}, which is not a public domain`,
      "Set RETURN_PATH_DOMAIN to a domain whose MX record is this machine.",
    )
  const dns = yield* Dns.Dns
  const mx = yield* dns.mx(domain)
  if (mx._tag !== "Found")
    return returnPathFinding.warning(
      `${domain} has no MX record (${mx.reason})`,
      `Publish an MX record for ${domain} that points to this machine.`,
    )
  const to = mx.records.map(({ exchange }) => exchange).join(", ")
  return listening
    ? returnPathFinding.ok(`${domain} points to ${to}`)
    : returnPathFinding.warning(
        `${domain} points to ${to}, but reports are not received`,
        "Set MAIL_PORT, and forward port 25 to it.",
      )
})
