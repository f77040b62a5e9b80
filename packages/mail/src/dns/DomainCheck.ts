import { Effect } from "effect"
import * as DkimRecord from "../dkim/DkimRecord.ts"
import * as Dns from "./Dns.ts"
import type { ExpectedRecord } from "./DomainRecords.ts"
import * as Network from "./Network.ts"
import * as SpfRecord from "./SpfRecord.ts"
import * as TagList from "../compose/TagList.ts"

export interface CheckedRecord extends ExpectedRecord {
  readonly status: "verified" | "missing" | "mismatch" | "unavailable"
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
  const queries = inOrder(zone)
  const shown = ({ purpose }: ExpectedRecord, judged: Judged) => (zone.isPublic ? judged : hidden(purpose, judged))
  const records = yield* Effect.forEach(
    expected,
    (record) =>
      Effect.map(judge(queries, domain, record), (judged): CheckedRecord => ({ ...record, ...shown(record, judged) })),
    { concurrency: "unbounded" },
  )
  return { verdict: verdict(records), records } satisfies Report
})

/**
 * Hides the records of a zone that the internet does not know, except expected values and public keys at our selectors:
 * otherwise anybody who adds a domain here could read the operator's own DNS.
 */
const hidden = (purpose: ExpectedRecord["purpose"], judged: Judged): Judged => {
  if (judged.status === "verified" || judged.status === "unavailable") return judged
  const isKey = purpose === "dkim" && judged.status === "mismatch" && judged.found.every(DkimRecord.looksLikeKey)
  return isKey ? judged : missing(Dns.notFound("NXDOMAIN"))
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
const inOrder = (queries: Dns.Queries): Dns.Queries => {
  const by =
    <A>(query: (name: string) => Effect.Effect<Dns.Answer<A>>, place: (record: A) => string) =>
    (name: string) =>
      Effect.map(query(name), (answer) =>
        answer._tag === "Found"
          ? { ...answer, records: answer.records.toSorted((one, other) => (place(one) < place(other) ? -1 : 1)) }
          : answer,
      )
  const itself = (text: string): string => text
  return {
    ...queries,
    txt: by(queries.txt, itself),
    mx: by(queries.mx, ({ exchange, preference }) => `${String(preference).padStart(5)} ${exchange}`),
    a: by(queries.a, itself),
    aaaa: by(queries.aaaa, itself),
  }
}

export const verdict = (records: ReadonlyArray<CheckedRecord>): Verdict => {
  const required = records.filter((record) => record.required)
  if (required.some((record) => record.status === "missing" || record.status === "mismatch")) return "missing"
  return required.some((record) => record.status === "unavailable") ? "unavailable" : "verified"
}

type Judged = Pick<CheckedRecord, "status" | "found" | "error">

const judge = (queries: Dns.Queries, domain: string, record: ExpectedRecord): Effect.Effect<Judged> => {
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
  }
}

const dkim = Effect.fnUntraced(function* (queries: Dns.Queries, domain: string, record: ExpectedRecord) {
  const answer = ofKind(yield* queries.txt(record.name), DkimRecord.looksLikeKey)
  if (answer._tag === "Unavailable") return unknown(answer)
  if (answer._tag === "Found") {
    const mistake = DkimRecord.mistake(record.value, answer.records)
    if (mistake === undefined) return verified(answer.records)
    if (answer.records.some(DkimRecord.looksLikeKey)) return mismatch(answer.records, mistake)
    return (yield* misplacedKey(queries, domain, record)) ?? mismatch(answer.records, mistake)
  }
  const alias = yield* queries.cname(record.name)
  if (alias._tag === "Found") {
    return mismatch(alias.records, "a CNAME stands here where a TXT record belongs, and its target has none")
  }
  return (yield* misplacedKey(queries, domain, record)) ?? missing(answer)
})

/** Looks for the key at names where forms of DNS providers make people put it. */
const misplacedKey = Effect.fnUntraced(function* (queries: Dns.Queries, domain: string, record: ExpectedRecord) {
  const places = [
    {
      name: `${record.name}.${domain}`,
      words: `the name was doubled: the key stands at ${record.name}.${domain}; enter only ${record.host} as the host`,
    },
    { name: domain, words: `the key stands at ${domain} itself; enter ${record.host} as the host` },
    {
      name: record.name.replace("._domainkey.", "."),
      words: `the host lacks ._domainkey; enter ${record.host}`,
    },
  ]
  for (const place of places) {
    const answer = yield* queries.txt(place.name)
    if (answer._tag !== "Found") continue
    const keys = answer.records.filter((text) => DkimRecord.isKey(record.value, text))
    if (keys.length > 0) return mismatch(keys, place.words)
  }
  return undefined
})

const spf = Effect.fnUntraced(function* (queries: Dns.Queries, record: ExpectedRecord) {
  const answer = ofKind(yield* queries.txt(record.name), SpfRecord.isSpf)
  if (answer._tag === "Unavailable") return unknown(answer)
  if (answer._tag === "NotFound") return missing(answer)
  const mistake = SpfRecord.mistake(record.value, answer.records)
  return mistake === undefined ? verified(answer.records) : mismatch(answer.records, mistake)
})

const cname = Effect.fnUntraced(function* (queries: Dns.Queries, domain: string, record: ExpectedRecord) {
  const answer = yield* queries.cname(record.name)
  if (answer._tag === "Unavailable") return unknown(answer)
  if (answer._tag === "Found") {
    return answer.records.includes(hostName(record.value))
      ? verified(answer.records)
      : mismatch(answer.records, `the CNAME leads to ${answer.records.join(", ")} instead of ${record.value}`)
  }
  const doubled = yield* queries.cname(`${record.name}.${domain}`)
  if (doubled._tag === "Found") {
    const words = `the name was doubled: the CNAME stands at ${record.name}.${domain}; enter only ${record.host} as the host`
    return mismatch(doubled.records, words)
  }
  const address = yield* Dns.addresses(queries, record.name)
  const addresses = address._tag === "Found" ? address.records.filter((each) => Network.isReachable(each)) : []
  return addresses.length > 0
    ? mismatch(addresses, "addresses answer where a CNAME belongs; switch proxying or flattening off for this name")
    : missing(answer)
})

const returnMx = Effect.fnUntraced(function* (queries: Dns.Queries, record: ExpectedRecord) {
  const answer = yield* queries.mx(record.name)
  if (answer._tag === "Unavailable") return unknown(answer)
  if (answer._tag === "NotFound") return missing(answer)
  const wanted = hostName(record.value.slice(record.value.indexOf(" ") + 1))
  const found = answer.records.map((mx) => `${mx.preference} ${mx.exchange}`)
  const others = answer.records.filter((mx) => mx.exchange !== wanted).map((mx) => mx.exchange)
  if (others.length === answer.records.length) return mismatch(found, `no MX here leads to ${wanted}`)
  return others.length === 0
    ? verified(found)
    : mismatch(found, `bounces may go astray to ${others.join(", ")}; leave only ${wanted}`)
})

/**
 * Returns the policy of the domain, or of the closest domain above it that has one (RFC 7489 §6.6.3, as a tree walk).
 */
const dmarc = Effect.fnUntraced(function* (queries: Dns.Queries, domain: string, record: ExpectedRecord) {
  const own = ofKind(yield* queries.txt(record.name), isDmarc)
  if (own._tag === "Unavailable") return unknown(own)
  const labels = domain.split(".")
  for (let from = 0; from <= labels.length - 2; from++) {
    const answer = from === 0 ? own : yield* queries.txt(`_dmarc.${labels.slice(from).join(".")}`)
    const policies = answer._tag === "Found" ? answer.records.filter(isDmarc) : []
    const [only] = policies
    if (only === undefined) continue
    if (policies.length > 1) return mismatch(policies, `${policies.length} DMARC records stand here, only one may`)
    return TagList.parse(only)?.has("p") === true
      ? verified(policies)
      : mismatch(policies, "the policy, p=none, p=quarantine or p=reject, is missing")
  }
  return own._tag === "Found" ? mismatch(own.records, "no TXT record here begins with v=DMARC1") : missing(own)
})

const isDmarc = (text: string): boolean => /^v\s*=\s*DMARC1\s*(?:;|$)/u.test(text.trim())

const hostName = (text: string): string => text.trim().replace(/\.$/u, "").toLowerCase()

const verified = (found: ReadonlyArray<string>): Judged => ({ status: "verified", found: kept(found), error: null })
const mismatch = (found: ReadonlyArray<string>, error: string): Judged => ({
  status: "mismatch",
  found: kept(found),
  error,
})
const missing = (answer: Dns.NotFound): Judged => ({ status: "missing", found: [], error: answer.reason })
const unknown = (answer: Dns.Unavailable): Judged => ({ status: "unavailable", found: [], error: answer.reason })

const kept = (found: ReadonlyArray<string>): ReadonlyArray<string> =>
  found.slice(0, FOUND_RECORDS).map((text) => text.slice(0, FOUND_CHARACTERS))
