import { Effect } from "effect"
import * as Dns from "../dns/Dns.ts"
import * as Network from "../dns/Network.ts"
import type { Source } from "./SourceAddress.ts"

export interface NamesResult {
  readonly status: "ok" | "wrong" | "unknown"
  readonly result: string
  /** Addresses under which receivers see the source. */
  readonly seenAs: ReadonlyArray<string>
}

/**
 * Checks that an address, its PTR record, its name in EHLO and that name's address agree, without which large receivers
 * refuse or distrust mail. Behind a NAT the address is private: then the name's address must lead back to the name.
 */
export const checkNames = Effect.fn("checkNames")(function* (dns: Dns.Queries, { address, name }: Source) {
  const isPublic = Network.isReachable(address)
  const forward = yield* Dns.addresses(dns, name)
  const seenAs = isPublic ? [address] : forward._tag === "Found" ? forward.records.filter(isSame(address)) : []
  const done = (status: NamesResult["status"], result: string): NamesResult => ({ status, result, seenAs })
  if (forward._tag === "Unavailable") return done("unknown", `${name} could not be looked up (${forward.reason})`)
  if (forward._tag === "NotFound") return done("wrong", `${name} has no address`)
  if (seenAs.length === 0) return done("wrong", `${name} has no address of the IP version of ${address}`)
  if (isPublic && !forward.records.includes(address))
    return done("wrong", `${name} points to ${forward.records.join(", ")}, not to ${address}`)
  for (const seen of seenAs) {
    const back = yield* dns.ptr(seen)
    if (back._tag === "Unavailable")
      return done("unknown", `the PTR record of ${seen} could not be read (${back.reason})`)
    if (back._tag === "NotFound") return done("wrong", `${seen} has no PTR record`)
    if (!back.records.includes(name.toLowerCase()))
      return done("wrong", `the PTR record of ${seen} is ${back.records.join(", ")}, not ${name}`)
  }
  return done("ok", `${name} points to ${seenAs.join(", ")} and back`)
})

const isSame =
  (address: string) =>
  (other: string): boolean =>
    other.includes(":") === address.includes(":")
