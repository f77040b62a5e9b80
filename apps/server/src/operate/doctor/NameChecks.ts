import * as DomainName from "@waybill/domain/domain/DomainName"
import * as Dns from "@waybill/mail/dns/Dns"
import * as Network from "@waybill/mail/dns/Network"
import { Effect, Result } from "effect"
import { networkInterfaces } from "node:os"
import { type Finding, ok, trouble, warning, type Weight } from "./Finding.ts"

/** Public addresses of this machine; none behind a NAT, where only others can see them. */
export const ownAddresses = (): ReadonlyArray<string> =>
  Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .map(({ address }) => address)
    .filter((address) => Network.isReachable(address))

/**
 * The name this side gives in EHLO: it leads to an address, the address leads back to it, and where that can be seen it
 * is an address of this machine. Large receivers refuse or distrust whoever fails this.
 */
export const ehloName = (
  name: string,
  own: ReadonlyArray<string>,
  weight: Weight,
): Effect.Effect<Finding, never, Dns.Dns> =>
  Effect.gen(function* () {
    const bad = (found: string, mend: string) => trouble("ehlo name", weight, found, mend)
    if (Result.isFailure(DomainName.parse(name))) {
      return bad(
        `"${name}" is no name that others could look up`,
        "Set EHLO_NAME to a full name, such as mail.example.org.",
      )
    }
    const dns = yield* Dns.Dns
    const forward = yield* Dns.addresses(dns, name)
    if (forward._tag === "Unavailable") {
      return bad(`${name} could not be looked up (${forward.reason})`, "Mend DNS first, then ask again.")
    }
    if (forward._tag === "NotFound") {
      return bad(`${name} has no address (${forward.reason})`, `Publish an A or AAAA record for ${name}.`)
    }
    const elsewhere = own.length > 0 && !own.some((address) => forward.records.includes(address))
    if (elsewhere) {
      return bad(
        `${name} leads to ${forward.records.join(", ")}, and this machine is ${own.join(", ")}`,
        `Let ${name} lead to the address that mail leaves from, or set EHLO_NAME to this machine's name.`,
      )
    }
    const back = yield* Effect.forEach(
      forward.records,
      (address) => Effect.map(dns.ptr(address), (answer) => ({ address, answer })),
      { concurrency: "unbounded" },
    )
    const astray = back.filter(({ answer }) => answer._tag !== "Found" || !answer.records.includes(name.toLowerCase()))
    if (astray.length === 0) return ok("ehlo name", `${name} leads to ${forward.records.join(", ")} and back`)
    const words = astray.map(({ address, answer }) => `${address} leads back to ${leads(answer)}`).join("; ")
    return bad(
      `${name}: ${words}`,
      `Have the owner of the address (your provider) set its PTR record to ${name}, or set EHLO_NAME to what it says.`,
    )
  })

const leads = (answer: Dns.Answer<string>): string =>
  answer._tag === "Found" ? answer.records.join(", ") : `nothing (${answer.reason})`

/** Where other servers send bounces: a domain that leads nowhere keeps them from ever being learnt of. */
export const returnPath = (domain: string, listening: boolean): Effect.Effect<Finding, never, Dns.Dns> =>
  Effect.gen(function* () {
    if (Result.isFailure(DomainName.parse(domain)) || DomainName.isReserved(domain)) {
      return warning(
        "return path",
        `bounces would go to ${domain}, which nobody can reach`,
        "Set RETURN_PATH_DOMAIN to a domain whose MX record is this machine.",
      )
    }
    const dns = yield* Dns.Dns
    const mx = yield* dns.mx(domain)
    if (mx._tag !== "Found") {
      return warning(
        "return path",
        `${domain} has no MX record (${mx.reason})`,
        `Publish an MX record for ${domain} that leads to this machine.`,
      )
    }
    const to = mx.records.map(({ exchange }) => exchange).join(", ")
    return listening
      ? ok("return path", `${domain} leads to ${to}`)
      : warning(
          "return path",
          `${domain} leads to ${to}, and nobody listens`,
          "Set REPORTS_PORT, and forward port 25 to it.",
        )
  })
