import { Effect, Result, Schema } from "effect"
import * as Dns from "./Dns.ts"
import * as Network from "./Network.ts"

/** Refuses hosts named by others (a webhook's URL, an MX record) that lead into the operator's own network. */
export class AddressRefused extends Schema.TaggedError<AddressRefused>()("AddressRefused", {
  host: Schema.String,
  /** Address that the host stands for or resolved to. */
  address: Schema.String,
  range: Schema.String,
}) {
  override get message() {
    return this.host === this.address
      ? `${this.host} is a ${this.range} address`
      : `${this.host} resolves to ${this.address}, a ${this.range} address`
  }
}

export class NameNotFound extends Schema.TaggedError<NameNotFound>()("NameNotFound", {
  host: Schema.String,
  reason: Schema.Literals(["NXDOMAIN", "NODATA"]),
}) {
  override get message() {
    return `${this.host} has no address (${this.reason})`
  }
}

export class NameUnavailable extends Schema.TaggedError<NameUnavailable>()("NameUnavailable", {
  host: Schema.String,
  reason: Schema.String,
}) {
  override get message() {
    return `${this.host} could not be looked up (${this.reason})`
  }
}

const LOOPBACK: ReadonlyArray<string> = ["127.0.0.1", "::1"]

/** Checks a host before DNS is queried: a literal address in any notation, or a name for loopback. */
export const checkHost = (
  host: string,
  allowed: Network.Networks = [],
): Result.Result<ReadonlyArray<string> | undefined, AddressRefused> => {
  const address = Network.literal(host)
  const addresses = address !== undefined ? [address] : isLocalhost(host) ? LOOPBACK : undefined
  if (addresses === undefined) return Result.succeed(undefined)
  const reachable = addresses.filter((address) => Network.isReachable(address, allowed))
  return reachable.length > 0 ? Result.succeed(reachable) : Result.fail(refused(host, addresses))
}

/**
 * Returns the addresses of a host that may be connected to. Connect to one of these and never to the name: between two
 * look-ups the name's owner can change its address.
 */
export const resolvePublic = Effect.fn("NetworkGuard.resolvePublic")(function* (
  host: string,
  allowed: Network.Networks = [],
) {
  const literal = yield* Effect.fromResult(checkHost(host, allowed))
  if (literal !== undefined) return literal
  const answer = yield* Dns.addresses(yield* Dns.Dns, host)
  if (answer._tag === "NotFound") return yield* new NameNotFound({ host, reason: answer.reason })
  if (answer._tag === "Unavailable") return yield* new NameUnavailable({ host, reason: answer.reason })
  const reachable = answer.records.filter((address) => Network.isReachable(address, allowed))
  return reachable.length > 0 ? reachable : yield* refused(host, answer.records)
})

/** RFC 6761 §6.3: the whole tree below localhost is loopback. */
const isLocalhost = (host: string): boolean => /^(?:.+\.)?localhost\.?$/iu.test(host)

const refused = (host: string, [address = ""]: ReadonlyArray<string>): AddressRefused =>
  new AddressRefused({ host, address, range: Network.refusedRange(address) ?? "refused" })
