import * as DomainName from "@waybill/domain/values/DomainName"
import { Result } from "effect"
import { isIP } from "node:net"
import * as Network from "../dns/Network.ts"

/** Ranges of addresses that no host can send from. */
const UNUSABLE: ReadonlySet<string> = new Set(["unspecified", "multicast", "broadcast"])

/** Parses an address of a host and returns its one spelling. */
export const parseAddress = (text: string): Result.Result<string, string> => {
  const address = isIP(text) === 0 || text.includes("%") ? undefined : Network.literal(text)
  if (address === undefined) return Result.fail(`${text} is not an IP address`)
  const range = Network.refusedRange(address)
  if (address.startsWith("::ffff:") || (range !== undefined && UNUSABLE.has(range)))
    return Result.fail(`${text} is no address that a host can send from`)
  return Result.succeed(address)
}

/** Parses the name of an address in EHLO. */
export const parseName = (text: string): Result.Result<string, string> =>
  Result.mapError(DomainName.parse(text), () => `${text} is not a host name such as mail.example.org`)

interface Parsed {
  readonly address: string
  readonly name: string | null
}

/** Parses `address` or `address=name`. */
export const parse = (text: string): Result.Result<Parsed, string> => {
  const [address = "", name, ...rest] = text.split("=")
  if (rest.length > 0) return Result.fail(`${text} has more than one =`)
  return Result.flatMap(parseAddress(address.trim()), (parsed): Result.Result<Parsed, string> =>
    name === undefined
      ? Result.succeed({ address: parsed, name: null })
      : Result.map(parseName(name.trim()), (host) => ({ address: parsed, name: host })),
  )
}
