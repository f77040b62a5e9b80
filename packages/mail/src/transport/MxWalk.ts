import { Effect } from "effect"
import * as MonotonicClock from "@waybill/runtime/flow/MonotonicClock"
import * as Dns from "../dns/Dns.ts"
import * as Network from "../dns/Network.ts"
import * as SourceAddress from "../source/SourceAddress.ts"
import * as ServerPolicy from "../site/ServerPolicy.ts"
import * as SmtpConnection from "../smtp/SmtpConnection.ts"
import type * as SmtpTimeouts from "../smtp/SmtpTimeouts.ts"

/** Addresses tried of one server, and of all servers in one attempt. */
export const ADDRESSES_PER_HOST = 2
export const ADDRESSES_PER_ATTEMPT = 5
/** A server whose TLS failed gets mail in the clear for this long, unless a policy forbids it. */
export const BROKEN_TLS_MS = 60 * 60_000
/** An address that never answered is skipped for this long, so that a dead server does not hold up a queue. */
export const SILENT_MS = 60_000
/** Maximum number of servers that a process remembers. */
export const MAX_REMEMBERED = 10_000

interface Options {
  readonly name: string
  readonly port: number
  readonly timeouts?: Partial<SmtpTimeouts.Timeouts>
  readonly allowed?: Network.Networks
  readonly ca?: string | Buffer
}

type Failed = SmtpConnection.ConnectFailed

/** Opens a session with the first reachable server of a domain; fails with the most informative of all failures. */
export const make = (dns: Dns.Queries, options: Options) => {
  const brokenTls = new ExpiringSet()
  const silent = new ExpiringSet()

  const open = Effect.fnUntraced(function* (
    host: string,
    address: string,
    { dane, policy }: ServerPolicy.ServerPolicy,
    source: SourceAddress.Source | undefined,
  ) {
    const now = yield* MonotonicClock.millis
    const from = { name: source?.name ?? options.name, localAddress: source?.address }
    const target = { host, address, port: options.port, timeouts: options.timeouts, ...from }
    const isRequired = policy !== undefined || dane !== undefined
    const mode = isRequired ? "required" : brokenTls.has(host, now) ? "none" : "opportunistic"
    const trust = {
      ...(options.ca === undefined ? {} : { ca: options.ca }),
      ...(typeof dane === "object" && "records" in dane ? { dane } : {}),
    }
    return yield* SmtpConnection.open({ ...target, tls: { mode, verify: policy !== undefined, ...trust } }).pipe(
      Effect.mapError((failure) => (dane === undefined ? failure : ServerPolicy.asDane(failure))),
      Effect.catch((failure) => {
        if (failure.kind === "timeout" && (failure.stage === "connect" || failure.stage === "greeting"))
          silent.add(pathOf(address, source), now + SILENT_MS, now)
        if (mode !== "opportunistic" || failure.stage !== "starttls") return Effect.fail(failure)
        // RFC 7435: broken TLS is no reason to hold mail that would otherwise go in the clear.
        brokenTls.add(host, now + BROKEN_TLS_MS, now)
        return SmtpConnection.open({ ...target, tls: { mode: "none", verify: false } })
      }),
    )
  })

  const walk = Effect.fn("MxWalk.open")(function* (
    hosts: ReadonlyArray<string>,
    policyOf: (host: string) => ServerPolicy.ServerPolicy,
    avoid: ReadonlySet<string>,
    source?: SourceAddress.Source,
  ): Effect.fn.Return<SmtpConnection.SmtpConnection, Failed> {
    const failures: Array<Failed> = []
    let tried = 0
    for (const host of hosts) {
      const policy = policyOf(host)
      const refusal = ServerPolicy.refusalOf(host, policy)
      if (refusal !== undefined) {
        failures.push(failure(host, refusal.kind, refusal.detail))
        continue
      }
      const addresses = yield* Effect.result(reachable(dns, host, options.allowed))
      if (addresses._tag === "Failure") {
        failures.push(addresses.failure)
        continue
      }
      const usable = addresses.success.filter((address) => source === undefined || isSameFamily(address, source))
      for (const address of usable.slice(0, ADDRESSES_PER_HOST)) {
        if (avoid.has(address)) continue
        if (silent.has(pathOf(address, source), yield* MonotonicClock.millis)) {
          failures.push(failure(host, "timeout", `${address} did not answer a recent attempt`))
          continue
        }
        if (tried++ >= ADDRESSES_PER_ATTEMPT) break
        const opened = yield* Effect.result(open(host, address, policy, source))
        if (opened._tag === "Success") return opened.success
        failures.push(opened.failure)
      }
    }
    return yield* mostInformative(failures) ?? failure(hosts[0] ?? "", "unreachable", "no other server is left to try")
  })
  return walk
}

/** A server that does not answer one of our addresses may answer another. */
const pathOf = (address: string, source: SourceAddress.Source | undefined): string =>
  source === undefined ? address : `${source.address} ${address}`

const isSameFamily = (address: string, source: SourceAddress.Source): boolean =>
  SourceAddress.familyOf(address) === SourceAddress.familyOf(source.address)

/** Returns the addresses of a server that mail may be delivered to. */
const reachable = Effect.fnUntraced(function* (dns: Dns.Queries, host: string, allowed: Network.Networks | undefined) {
  const answer = yield* Dns.addresses(dns, host)
  if (answer._tag === "Unavailable") return yield* failure(host, "dns", `addresses: ${answer.reason}`)
  const records = answer._tag === "Found" ? answer.records : []
  const addresses = records.filter((address) => Network.isReachable(address, allowed))
  if (addresses.length > 0) return alternating(addresses)
  // Senders learn the same of a name unknown to DNS and of one in the operator's own network.
  yield* Effect.logInfo("mail server has no public address; it is skipped", { host, addresses: records })
  return yield* failure(host, "nowhere", "no public address")
})

/** One of each family first: a host without IPv6, or without IPv4, must reach the one that works. */
const alternating = (addresses: ReadonlyArray<string>): ReadonlyArray<string> => {
  const six = addresses.filter((address) => address.includes(":"))
  const four = addresses.filter((address) => !address.includes(":"))
  return addresses.flatMap((_, i) => [...four.slice(i, i + 1), ...six.slice(i, i + 1)])
}

const failure = (host: string, kind: Failed["kind"], detail: string): Failed =>
  new SmtpConnection.ConnectFailed({ host, stage: "connect", kind, reply: null, detail })

/**
 * A server's reply is more informative than silence; that a server has no public address counts only when none has one.
 */
const mostInformative = (failures: ReadonlyArray<Failed>): Failed | undefined =>
  failures.find((one) => one.reply !== null || one.kind === "source") ??
  failures.find((one) => one.kind !== "nowhere") ??
  failures[0]

/** Remembers facts about servers for a while. */
class ExpiringSet {
  #until = new Map<string, number>()

  has(key: string, now: number): boolean {
    return (this.#until.get(key) ?? 0) > now
  }

  add(key: string, until: number, now: number): void {
    if (this.#until.size >= MAX_REMEMBERED) {
      for (const [other, end] of this.#until) if (end <= now) this.#until.delete(other)
    }
    if (this.#until.size < MAX_REMEMBERED) this.#until.set(key, until)
  }
}
