import * as DomainZone from "@waybill/domain/domain/DomainZone"
import { Effect } from "effect"
import * as DkimRecord from "./DkimRecord.ts"
import * as Dns from "./Dns.ts"
import type { ExpectedRecord } from "./DomainRecords.ts"
import * as Network from "./Network.ts"
import * as SpfRecord from "./SpfRecord.ts"
import * as TagList from "../compose/TagList.ts"

export interface CheckedRecord extends ExpectedRecord {
  readonly status: "verified" | "missing" | "mismatch" | "unavailable" | "conflict"
  /** Records at the name, or, for a common misplacement, the place where the record was found instead. */
  readonly found: ReadonlyArray<string>
  readonly error: string | null
}

/**
 * `missing`: a required record is not as expected. `unavailable`: DNS could not be queried for one, which must change
 * nothing: neither verify a domain nor degrade it.
 */
export type Verdict = "verified" | "missing" | "unavailable"

export interface Report {
  readonly verdict: Verdict
  /** Name of the zone that holds the domain; `null` if DNS did not tell. */
  readonly zone: string | null
  readonly records: ReadonlyArray<CheckedRecord>
}

/** Maximum number of foreign records that a result keeps. */
export const FOUND_RECORDS = 10
export const FOUND_CHARACTERS = 1_024

export const check = Effect.fn("DomainCheck.check")(function* (
  domain: string,
  expected: ReadonlyArray<ExpectedRecord>,
) {
  const dns = yield* Dns.Dns
  const zone = yield* dns.authoritative(domain)
  const queries = sorted(zone)
  const shown = ({ purpose }: ExpectedRecord, result: Result) => (zone.isPublic ? result : hidden(purpose, result))
  const records = yield* Effect.forEach(
    expected,
    (record) =>
      Effect.map(
        checkRecord(queries, domain, { ...record, host: hostIn(zone.zone, record) }),
        (result): CheckedRecord => ({
          ...record,
          ...shown(record, result),
        }),
      ),
    { concurrency: "unbounded" },
  )
  return { verdict: verdict(records), zone: zone.zone, records } satisfies Report
})

/** Returns the host that the form of a DNS provider wants, which adds the name of its zone. */
const hostIn = (zone: string | null, { host, name }: ExpectedRecord): string => DomainZone.hostIn(zone, name) ?? host

/**
 * Hides the records of a zone that the internet does not know, except expected values and public keys at our selectors:
 * otherwise anybody who adds a domain here could read the operator's own DNS.
 */
const hidden = (purpose: ExpectedRecord["purpose"], result: Result): Result => {
  if (result.status === "verified" || result.status === "unavailable") return result
  const isKey = purpose === "dkim" && result.status === "mismatch" && result.found.every(DkimRecord.looksLikeKey)
  return isKey ? result : missing(Dns.notFound("NXDOMAIN"))
}

/**
 * Keeps only records of the expected kind from a resolver's result that replaces the zone's own servers. Others must
 * not reach the customer: the name may be an alias into the operator's own network.
 */
const ofKind = (answer: Dns.Answer<string>, isKind: (text: string) => boolean): Dns.Answer<string> => {
  if (answer._tag !== "Found" || answer.isIndirect !== true) return answer
  const records = answer.records.filter(isKind)
  return records.length > 0 ? { ...answer, records } : Dns.notFound("NODATA")
}

/** Sorts records: name servers rotate them, and a changed order is no change of the domain. */
const sorted = (queries: Dns.Queries): Dns.Queries => {
  const sortedBy =
    <A>(query: (name: string) => Effect.Effect<Dns.Answer<A>>, sortKey: (record: A) => string) =>
    (name: string) =>
      Effect.map(query(name), (answer) =>
        answer._tag === "Found"
          ? { ...answer, records: answer.records.toSorted((one, other) => (sortKey(one) < sortKey(other) ? -1 : 1)) }
          : answer,
      )
  return {
    ...queries,
    txt: sortedBy(queries.txt, (text) => text),
    mx: sortedBy(queries.mx, ({ exchange, preference }) => `${String(preference).padStart(5)} ${exchange}`),
    a: sortedBy(queries.a, (text) => text),
    aaaa: sortedBy(queries.aaaa, (text) => text),
  }
}

export const verdict = (records: ReadonlyArray<CheckedRecord>): Verdict => {
  const required = records.filter((record) => record.required)
  if (required.some((record) => record.status === "missing" || record.status === "mismatch")) return "missing"
  return required.some((record) => record.status === "unavailable") ? "unavailable" : "verified"
}

type Result = Pick<CheckedRecord, "status" | "found" | "error">

const checkRecord = (queries: Dns.Queries, domain: string, record: ExpectedRecord): Effect.Effect<Result> => {
  switch (record.purpose) {
    case "dkim":
      return dkim(queries, domain, record)
    case "spf":
      return spf(queries, record)
    case "dmarc":
      return dmarc(queries, domain, record)
    case "return_path":
      return record.type === "MX" ? returnMx(queries, record) : cname(queries, domain, record)
    case "tracking":
      return cname(queries, domain, record)
    case "receiving":
      return receivingMx(queries, record)
  }
}

const dkim = Effect.fnUntraced(function* (queries: Dns.Queries, domain: string, record: ExpectedRecord) {
  const answer = ofKind(yield* queries.txt(record.name), DkimRecord.looksLikeKey)
  if (answer._tag === "Unavailable") return unavailable(answer)
  if (answer._tag === "Found") {
    const mistake = DkimRecord.mistake(record.value, answer.records)
    if (mistake === undefined) return verified(answer.records)
    if (answer.records.some(DkimRecord.looksLikeKey)) return mismatch(answer.records, mistake)
    return (yield* misplacedKey(queries, domain, record)) ?? mismatch(answer.records, mistake)
  }
  const alias = yield* queries.cname(record.name)
  if (alias._tag === "Found") {
    return mismatch(alias.records, "this name is a CNAME instead of a TXT record, and its target has no TXT record")
  }
  return (yield* misplacedKey(queries, domain, record)) ?? missing(answer)
})

/** Looks for the key at names where forms of DNS providers make people put it. */
const misplacedKey = Effect.fnUntraced(function* (queries: Dns.Queries, domain: string, record: ExpectedRecord) {
  const candidates = [
    {
      name: `${record.name}.${domain}`,
      error: `the domain was added twice: the key was found at ${record.name}.${domain}; enter only ${record.host} as the host`,
    },
    { name: domain, error: `the key was found at ${domain} itself; enter ${record.host} as the host` },
    {
      name: record.name.replace("._domainkey.", "."),
      error: `the host is missing ._domainkey; enter ${record.host}`,
    },
  ]
  for (const { error, name } of candidates) {
    const answer = yield* queries.txt(name)
    if (answer._tag !== "Found") continue
    const keys = answer.records.filter((text) => DkimRecord.isKey(record.value, text))
    if (keys.length > 0) return mismatch(keys, error)
  }
  return undefined
})

const spf = Effect.fnUntraced(function* (queries: Dns.Queries, record: ExpectedRecord) {
  const answer = ofKind(yield* queries.txt(record.name), SpfRecord.isSpf)
  if (answer._tag === "Unavailable") return unavailable(answer)
  if (answer._tag === "NotFound") return missing(answer)
  const mistake = SpfRecord.mistake(record.value, answer.records)
  return mistake === undefined ? verified(answer.records) : mismatch(answer.records, mistake)
})

const cname = Effect.fnUntraced(function* (queries: Dns.Queries, domain: string, record: ExpectedRecord) {
  const answer = yield* queries.cname(record.name)
  if (answer._tag === "Unavailable") return unavailable(answer)
  if (answer._tag === "Found") {
    return answer.records.includes(hostName(record.value))
      ? verified(answer.records)
      : mismatch(answer.records, `the CNAME points to ${answer.records.join(", ")} instead of ${record.value}`)
  }
  const doubled = yield* queries.cname(`${record.name}.${domain}`)
  if (doubled._tag === "Found") {
    const error = `the domain was added twice: the CNAME was found at ${record.name}.${domain}; enter only ${record.host} as the host`
    return mismatch(doubled.records, error)
  }
  const address = yield* Dns.addresses(queries, record.name)
  const addresses = address._tag === "Found" ? address.records.filter((each) => Network.isReachable(each)) : []
  return addresses.length > 0
    ? mismatch(addresses, "this name has address records instead of a CNAME; turn off proxying or flattening for it")
    : missing(answer)
})

/** Other servers beside ours would receive some of the mail, so they are a conflict too. */
const receivingMx = Effect.fnUntraced(function* (queries: Dns.Queries, record: ExpectedRecord) {
  const answer = yield* queries.mx(record.name)
  if (answer._tag === "Unavailable") return unavailable(answer)
  if (answer._tag === "NotFound") return missing(answer)
  const hosts = answer.records.map(({ exchange }) => exchange)
  const others = hosts.filter((host) => host !== hostName(record.value))
  if (others.length === 0) return verified(hosts)
  const found = limited(answer.records.map(({ exchange, preference }) => `${preference} ${exchange}`))
  const error = `mail to this domain goes to ${others.join(", ")}; receive at a subdomain to keep that, or remove these records`
  return { status: "conflict" as const, found, error }
})

const returnMx = Effect.fnUntraced(function* (queries: Dns.Queries, record: ExpectedRecord) {
  const answer = yield* queries.mx(record.name)
  if (answer._tag === "Unavailable") return unavailable(answer)
  if (answer._tag === "NotFound") return missing(answer)
  const expectedHost = hostName(record.value.slice(record.value.indexOf(" ") + 1))
  const found = answer.records.map((mx) => `${mx.preference} ${mx.exchange}`)
  const others = answer.records.filter((mx) => mx.exchange !== expectedHost).map((mx) => mx.exchange)
  if (others.length === answer.records.length) return mismatch(found, `no MX record points to ${expectedHost}`)
  return others.length === 0
    ? verified(found)
    : mismatch(found, `bounces may be delivered to ${others.join(", ")}; keep only ${expectedHost}`)
})

/**
 * Returns the policy of the domain, or of the closest domain above it that has one (RFC 7489 §6.6.3, as a tree walk).
 */
const dmarc = Effect.fnUntraced(function* (queries: Dns.Queries, domain: string, record: ExpectedRecord) {
  const direct = ofKind(yield* queries.txt(record.name), isDmarc)
  if (direct._tag === "Unavailable") return unavailable(direct)
  const labels = domain.split(".")
  for (let from = 0; from <= labels.length - 2; from++) {
    const answer = from === 0 ? direct : yield* queries.txt(`_dmarc.${labels.slice(from).join(".")}`)
    const policies = answer._tag === "Found" ? answer.records.filter(isDmarc) : []
    const [only] = policies
    if (only === undefined) continue
    if (policies.length > 1) return mismatch(policies, `${policies.length} DMARC records found, only one is allowed`)
    return TagList.parse(only)?.has("p") === true
      ? verified(policies)
      : mismatch(policies, "the policy, p=none, p=quarantine or p=reject, is missing")
  }
  return direct._tag === "Found" ? mismatch(direct.records, "no TXT record begins with v=DMARC1") : missing(direct)
})

const isDmarc = (text: string): boolean => /^v\s*=\s*DMARC1\s*(?:;|$)/u.test(text.trim())

const hostName = (text: string): string => text.trim().replace(/\.$/u, "").toLowerCase()

const verified = (found: ReadonlyArray<string>): Result => ({ status: "verified", found: limited(found), error: null })
const mismatch = (found: ReadonlyArray<string>, error: string): Result => ({
  status: "mismatch",
  found: limited(found),
  error,
})
const missing = (answer: Dns.NotFound): Result => ({ status: "missing", found: [], error: answer.reason })
const unavailable = (answer: Dns.Unavailable): Result => ({ status: "unavailable", found: [], error: answer.reason })

const limited = (found: ReadonlyArray<string>): ReadonlyArray<string> =>
  found.slice(0, FOUND_RECORDS).map((text) => text.slice(0, FOUND_CHARACTERS))
