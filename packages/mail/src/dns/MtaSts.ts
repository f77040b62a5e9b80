import { LruCache } from "@waybill/runtime/collections/LruCache"
import * as Span from "@waybill/runtime/flow/Span"
import { Cache, Clock, Context, Duration, Effect, Layer, Schema } from "effect"
import * as Dns from "./Dns.ts"
import * as TagList from "../compose/TagList.ts"

/** A domain's policy for the delivery of its mail (RFC 8461). */
export interface Policy {
  readonly mode: "enforce" | "testing" | "none"
  /** Names of its servers; `*.example.org` stands for one label. */
  readonly mx: ReadonlyArray<string>
  readonly max_age_ms: number
}

export const POLICY_BYTES = 64 * 1024
/** RFC 8461 §3.2: about a year. */
export const MAX_AGE_SECONDS = 31_557_600
export const MX_PATTERNS = 100
/** Maximum length of one server's name: 253 octets (RFC 1035) behind `*.`. */
export const MX_PATTERN_CHARS = 255
/** Maximum length of all names of a policy: thousands of policies are held in memory, and many more in the database. */
export const MX_CHARS = 8 * 1024
/**
 * Interval at which a domain is checked again, with or without a policy, and for which a failing host is left alone
 * (§3.3).
 */
export const CHECK_MS = 300_000
/** Maximum number of domains that a process remembers; the oldest is forgotten first. */
export const DOMAINS = 10_000

export class FetchFailed extends Schema.TaggedError<FetchFailed>()("FetchFailed", { reason: Schema.String }) {
  override get message() {
    return `the MTA-STS policy could not be fetched: ${this.reason}`
  }
}

/** A policy as it was fetched. */
export interface StoredPolicy {
  /** Id under which the domain's record announced it. */
  readonly id: string
  readonly policy: Policy
  readonly expires_at: number
}

/** Storage in which policies outlive a process, and which all processes share. */
export interface PolicyStorage {
  readonly find: (domain: string) => Effect.Effect<StoredPolicy | undefined, Error>
  readonly put: (domain: string, policy: StoredPolicy) => Effect.Effect<void, Error>
}

/**
 * Fetches the text at `https://mta-sts.<domain>/.well-known/mta-sts.txt`; checks the certificate and follows no
 * redirect.
 */
export type Fetch = (domain: string) => Effect.Effect<string, FetchFailed>

export class MtaSts extends Context.Service<
  MtaSts,
  {
    /** Returns the policy that must be enforced, if there is one. */
    readonly enforced: (domain: string) => Effect.Effect<Policy | undefined>
  }
>()("@waybill/mail/dns/MtaSts") {
  static readonly layer = (fetch: Fetch, storage: PolicyStorage): Layer.Layer<MtaSts, never, Dns.Dns> =>
    Layer.effect(
      MtaSts,
      Effect.gen(function* () {
        const dns = yield* Dns.Dns
        const remembered = new LruCache<string, StoredPolicy>({ maxEntries: DOMAINS })
        // A cache, so that of a thousand mails to one domain one queries and all wait for its result.
        const checks = yield* Cache.make({
          capacity: DOMAINS,
          timeToLive: Duration.millis(CHECK_MS),
          lookup: Effect.fnUntraced(function* (domain: string) {
            const next = yield* check(dns, fetch, storage, domain, remembered.get(domain))
            if (next === undefined) remembered.delete(domain)
            else remembered.set(domain, next)
            return next
          }),
        })
        const enforced = Effect.fnUntraced(function* (domain: string) {
          const entry = yield* Cache.get(checks, domain)
          const now = yield* Clock.currentTimeMillis
          return entry !== undefined && entry.policy.mode === "enforce" && now < entry.expires_at
            ? entry.policy
            : undefined
        })
        return MtaSts.of({ enforced: (domain) => Span.around(enforced(domain), "MtaSts.enforced") })
      }),
    )
}

/**
 * A fetched policy holds until it expires, whatever DNS and the policy host do meanwhile; otherwise anybody who can
 * suppress an answer could switch it off (§5.1). Another process may have renewed the stored policy.
 */
const check = Effect.fnUntraced(function* (
  dns: Dns.Queries,
  fetch: Fetch,
  storage: PolicyStorage,
  domain: string,
  own: StoredPolicy | undefined,
) {
  const [stored, id] = yield* Effect.all([orUndefined(storage.find(domain)), announced(dns, domain)], {
    concurrency: 2,
  })
  const now = yield* Clock.currentTimeMillis
  const current = [stored, own].find((one) => one !== undefined && now < one.expires_at)
  if (id === undefined || id === current?.id) return current
  const renewed = yield* Effect.orElseSucceed(fetched(fetch, domain, id), () => undefined)
  if (renewed === undefined) return current
  yield* orUndefined(storage.put(domain, renewed))
  return renewed
})

/** Mail goes on when the policy storage fails: DNS and the policy host still answer. */
const orUndefined = <A>(effect: Effect.Effect<A, Error>): Effect.Effect<A | undefined> =>
  Effect.catch(effect, (error) =>
    Effect.as(
      Effect.logWarning("MTA-STS policy storage failed; policies are fetched from their domains instead", {
        code: "mta_sts_storage",
        message: String(error),
      }),
      undefined,
    ),
  )

/** Queries the domain's current policy. */
export const fetchCurrent = Effect.fnUntraced(function* (dns: Dns.Queries, fetch: Fetch, domain: string) {
  const id = yield* announced(dns, domain)
  if (id === undefined) return yield* new FetchFailed({ reason: "DNS has no MTA-STS record" })
  return yield* fetched(fetch, domain, id)
})

const announced = (dns: Dns.Queries, domain: string) =>
  Effect.map(dns.txt(`_mta-sts.${domain}`), (answer) => (answer._tag === "Found" ? idOf(answer.records) : undefined))

const fetched = Effect.fnUntraced(function* (fetch: Fetch, domain: string, id: string) {
  const policy = parse(yield* fetch(domain))
  if (policy === undefined) return yield* new FetchFailed({ reason: "the text is not a policy" })
  return { id, policy, expires_at: (yield* Clock.currentTimeMillis) + policy.max_age_ms } satisfies StoredPolicy
})

/** More than one record counts as none (§3.1). */
const idOf = (records: ReadonlyArray<string>): string | undefined => {
  const [only, ...others] = records.filter((record) => /^v=STSv1\s*;/u.test(record))
  if (only === undefined || others.length > 0) return undefined
  const id = TagList.parse(only)?.get("id")
  return id !== undefined && /^[A-Za-z0-9]{1,32}$/u.test(id) ? copied(id) : undefined
}

/** Returns undefined for text that is not a policy. Of a field given twice the first counts (§3.2). */
export const parse = (text: string): Policy | undefined => {
  if (text.length > POLICY_BYTES) return undefined
  const fields = new Map<string, string>()
  const mx: Array<string> = []
  for (const line of text.split(/\r?\n/u)) {
    if (line.trim() === "") continue
    // White space around the value is trimmed afterwards: a pattern that does it is quadratic in the spaces.
    const [, name, rawValue] = /^\s*([A-Za-z0-9][\w.-]{0,31})\s*:(.*)$/u.exec(line) ?? []
    if (name === undefined || rawValue === undefined) return undefined
    const value = rawValue.trim()
    if (name === "mx") mx.push(value.toLowerCase().replace(/\.$/u, ""))
    else if (!fields.has(name)) fields.set(name, value)
  }
  const mode = fields.get("mode")
  const age = fields.get("max_age") ?? ""
  if (fields.get("version") !== "STSv1" || !/^\d{1,10}$/u.test(age)) return undefined
  if (mode !== "enforce" && mode !== "testing" && mode !== "none") return undefined
  if (mode !== "none" && (mx.length === 0 || mx.length > MX_PATTERNS || !mx.every(isPattern))) return undefined
  if (mx.reduce((chars, name) => chars + name.length, 0) > MX_CHARS && mode !== "none") return undefined
  // Without a policy, names in the text have no meaning.
  return { mode, mx: mode === "none" ? [] : mx.map(copied), max_age_ms: Math.min(Number(age), MAX_AGE_SECONDS) * 1000 }
}

/** Copies the name: a slice of a text would keep the whole text in memory for as long as the policy. */
const copied = (name: string): string => Buffer.from(name, "latin1").toString("latin1")

const isPattern = (pattern: string): boolean =>
  pattern.length <= MX_PATTERN_CHARS && /^(?:\*\.)?(?:[a-z0-9_-]{1,63}\.)*[a-z0-9-]{1,63}$/u.test(pattern)

export const matches = (policy: Policy, host: string): boolean =>
  policy.mx.some((pattern) =>
    pattern.startsWith("*.")
      ? host.slice(host.indexOf(".") + 1) === pattern.slice(2) && host.includes(".")
      : host === pattern,
  )
