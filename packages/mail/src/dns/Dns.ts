import { Context, Effect, Layer } from "effect"
import * as dns from "node:dns"
import * as Network from "./Network.ts"

/**
 * Timeout of one query to one server. A resolver on the local network answers in milliseconds, a cold one in a second.
 */
export const QUERY_TIMEOUT_MS = 3_000
/** c-ares doubles the timeout with each try and goes round all servers. */
export const QUERY_TRIES = 2
/** Timeout of one look-up, however many servers are configured. */
export const LOOKUP_TIMEOUT_MS = 15_000
/** Number of a domain's own name servers that are queried, in the order listed. */
export const AUTHORITATIVE_SERVERS = 4

/**
 * Result of a query. Only `NotFound` is a statement about the domain; `Unavailable` is one about the path to it, and
 * allows no conclusion.
 */
export type Answer<A> = Found<A> | NotFound | Unavailable
export interface Found<A> {
  readonly _tag: "Found"
  readonly records: ReadonlyArray<A>
  /**
   * Set when the resolver answered instead of the zone's own servers: an alias may lead into the operator's own
   * network.
   */
  readonly isIndirect?: true
}
export interface NotFound {
  readonly _tag: "NotFound"
  readonly reason: "NXDOMAIN" | "NODATA"
}
export interface Unavailable {
  readonly _tag: "Unavailable"
  readonly reason: "SERVFAIL" | "TIMEOUT" | "REFUSED" | "UNREACHABLE" | "BADRESP"
}
export interface Mx {
  readonly preference: number
  /** The empty string is the null MX of RFC 7505. */
  readonly exchange: string
}

export const found = <A>(records: ReadonlyArray<A>): Answer<A> => ({ _tag: "Found", records })
export const notFound = (reason: NotFound["reason"]): NotFound => ({ _tag: "NotFound", reason })
export const unavailable = (reason: Unavailable["reason"]): Unavailable => ({ _tag: "Unavailable", reason })

/** Names are passed and returned without the trailing dot; names in results are in lower case. */
export interface Queries {
  /** The pieces of each record joined, as every reader of TXT does. */
  readonly txt: (name: string) => Effect.Effect<Answer<string>>
  readonly mx: (name: string) => Effect.Effect<Answer<Mx>>
  readonly a: (name: string) => Effect.Effect<Answer<string>>
  readonly aaaa: (name: string) => Effect.Effect<Answer<string>>
  readonly cname: (name: string) => Effect.Effect<Answer<string>>
  readonly ns: (name: string) => Effect.Effect<Answer<string>>
  readonly ptr: (address: string) => Effect.Effect<Answer<string>>
}

/** Queries of one domain, by way of its own name servers where those can be reached. */
export interface ZoneQueries extends Queries {
  /**
   * Whether the zone has name servers on the internet, so that its records are public. The resolver may also know zones
   * of the operator's own network, which customers must not learn about.
   */
  readonly isPublic: boolean
  /** Name of the zone that holds the domain; `null` if it is not public. */
  readonly zone: string | null
}

export interface Config {
  /** Resolvers, as `address` or `address:port`; those of the system by default. */
  readonly servers?: ReadonlyArray<string>
  readonly query_timeout_ms?: number
  readonly query_tries?: number
  /** Port of name servers; tests run theirs on another one. */
  readonly authoritative_port?: number
  /**
   * Private networks whose name servers may be queried. The domain's owner chooses its name servers, so others in
   * private networks are not.
   */
  readonly allowed?: Network.Networks
}

export class Dns extends Context.Service<
  Dns,
  Queries & {
    /** Queries the domain's own name servers, past every cache, and the resolver if they do not answer. */
    readonly authoritative: (domain: string) => Effect.Effect<ZoneQueries>
  }
>()("@waybill/mail/dns/Dns") {
  static readonly layer = (config: Config = {}): Layer.Layer<Dns> =>
    Layer.effect(
      Dns,
      Effect.gen(function* () {
        const resolver = yield* Effect.acquireRelease(
          Effect.sync(() => open(config, config.servers)),
          (resolver) => Effect.sync(() => resolver.cancel()),
        )
        const queries = fromResolver(resolver)
        return Dns.of({ ...queries, authoritative: authoritative(config, queries) })
      }),
    )
}

/**
 * Queries A and AAAA as one result: found when either is, unavailable when nothing was found and one of them failed.
 */
export const addresses = (queries: Queries, name: string): Effect.Effect<Answer<string>> =>
  Effect.map(Effect.all([queries.a(name), queries.aaaa(name)], { concurrency: 2 }), ([four, six]) => {
    const records = [four, six].flatMap((answer) => (answer._tag === "Found" ? answer.records : []))
    if (records.length > 0) return found(records)
    if (four._tag === "Unavailable") return four
    return six._tag === "Unavailable" ? six : four
  })

const open = (config: Config, servers: ReadonlyArray<string> | undefined): dns.promises.Resolver => {
  const resolver = new dns.promises.Resolver({
    timeout: config.query_timeout_ms ?? QUERY_TIMEOUT_MS,
    tries: config.query_tries ?? QUERY_TRIES,
  })
  if (servers !== undefined) resolver.setServers(servers)
  return resolver
}

const fromResolver = (resolver: dns.promises.Resolver): Queries => {
  const names = (records: ReadonlyArray<string>) => records.map(hostName)
  return {
    txt: query((name) => resolver.resolveTxt(name).then((records) => records.map((pieces) => pieces.join("")))),
    mx: query((name) =>
      resolver
        .resolveMx(name)
        .then((records) =>
          records
            .map((record): Mx => ({ preference: record.priority, exchange: hostName(record.exchange) }))
            .toSorted((one, other) => one.preference - other.preference),
        ),
    ),
    a: query((name) => resolver.resolve4(name)),
    aaaa: query((name) => resolver.resolve6(name)),
    cname: query((name) => resolver.resolveCname(name).then(names)),
    ns: query((name) => resolver.resolveNs(name).then(names)),
    // `reverse` of the same resolver would answer from this machine's hosts file.
    ptr: query((address) => resolver.resolvePtr(Network.reverseName(address)).then(names)),
  }
}

const query =
  <A>(resolve: (name: string) => Promise<ReadonlyArray<A>>) =>
  (name: string): Effect.Effect<Answer<A>> =>
    Effect.tryPromise({ try: () => resolve(name), catch: (cause) => cause }).pipe(
      Effect.match({
        onSuccess: (records) => (records.length === 0 ? notFound("NODATA") : found(records)),
        onFailure: (cause) => failureOf(cause),
      }),
      Effect.timeoutOrElse({
        duration: LOOKUP_TIMEOUT_MS,
        orElse: () => Effect.succeed<Answer<A>>(unavailable("TIMEOUT")),
      }),
    )

/** Codes of node:dns. A name that DNS cannot carry is a name that does not exist. */
const failureOf = (cause: unknown): NotFound | Unavailable => {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined
  switch (code) {
    case "ENOTFOUND":
    case "EBADNAME":
    case "ERR_INVALID_ARG_VALUE":
    case "EINVAL":
      return notFound("NXDOMAIN")
    case "ENODATA":
      return notFound("NODATA")
    case "ETIMEOUT":
    case "ECANCELLED":
      return unavailable("TIMEOUT")
    case "EREFUSED":
      return unavailable("REFUSED")
    case "ECONNREFUSED":
      return unavailable("UNREACHABLE")
    case "EBADRESP":
    case "EFORMERR":
    case "ENOTIMP":
      return unavailable("BADRESP")
    default:
      return unavailable("SERVFAIL")
  }
}

const authoritative = (config: Config, resolver: Queries) =>
  Effect.fn("Dns.authoritative")(function* (domain: string) {
    const { servers, zone: zoneName } = yield* nameServers(config, resolver, domain)
    if (servers.length === 0) return { ...resolver, isPublic: false, zone: null } satisfies ZoneQueries
    const zone = fromResolver(open(config, servers))
    // A name server answers a CNAME that leaves its zone with the CNAME alone: only the resolver can follow it.
    const isAlias = (name: string) => Effect.map(zone.cname(name), (answer) => answer._tag === "Found")
    const orResolver =
      <A>(ofZone: (name: string) => Effect.Effect<Answer<A>>, ofResolver: typeof ofZone) =>
      (name: string) =>
        Effect.flatMap(ofZone(name), (answer) => {
          if (answer._tag === "Unavailable") return Effect.map(ofResolver(name), indirect)
          if (answer._tag === "Found") return Effect.succeed(answer)
          return Effect.flatMap(isAlias(name), (aliased) =>
            aliased ? Effect.map(ofResolver(name), throughAlias) : Effect.succeed(answer),
          )
        })
    return {
      txt: orResolver(zone.txt, resolver.txt),
      mx: orResolver(zone.mx, resolver.mx),
      a: orResolver(zone.a, resolver.a),
      aaaa: orResolver(zone.aaaa, resolver.aaaa),
      cname: (name: string) =>
        Effect.flatMap(zone.cname(name), (answer) =>
          answer._tag === "Unavailable" ? resolver.cname(name) : Effect.succeed(answer),
        ),
      ns: orResolver(zone.ns, resolver.ns),
      ptr: resolver.ptr,
      isPublic: true,
      zone: zoneName,
    } satisfies ZoneQueries
  })

const indirect = <A>(answer: Answer<A>): Answer<A> =>
  answer._tag === "Found" ? { ...answer, isIndirect: true } : answer

/** The name has a CNAME, so it exists. Whether its target exists may concern the operator's own network. */
const throughAlias = <A>(answer: Answer<A>): Answer<A> =>
  answer._tag === "NotFound" ? notFound("NODATA") : indirect(answer)

/** Returns the zone of a domain, which is the closest ancestor with NS records and never a TLD, and its name servers. */
const nameServers = Effect.fnUntraced(function* (config: Config, resolver: Queries, domain: string) {
  const labels = domain.split(".")
  for (let from = 0; from <= labels.length - 2; from++) {
    const name = labels.slice(from).join(".")
    const zone = yield* resolver.ns(name)
    if (zone._tag === "Unavailable") return { zone: null, servers: [] }
    if (zone._tag === "NotFound") continue
    const hosts = yield* Effect.forEach(
      zone.records.slice(0, AUTHORITATIVE_SERVERS),
      (host) => addresses(resolver, host),
      { concurrency: "unbounded" },
    )
    const port = config.authoritative_port ?? 53
    const servers = hosts
      .flatMap((answer) => (answer._tag === "Found" ? answer.records : []))
      .filter((address) => Network.isReachable(address, config.allowed))
      .map((address) => (address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`))
    return { zone: name, servers }
  }
  return { zone: null, servers: [] }
})

const hostName = (name: string): string => (name.endsWith(".") ? name.slice(0, -1) : name).toLowerCase()
