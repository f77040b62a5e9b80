import * as ReportText from "./ReportText.ts"

/** Maximum number of policies of a report, and of failures of each. A report is about one domain, with one or two policies. */
export const MAX_POLICIES = 100
export const MAX_FAILURES = 10_000
/** Maximum number of different rows that are kept of a report; failures at further servers are added up. */
export const MAX_ROWS = 500

export type PolicyType = "sts" | "tlsa" | "no-policy-found"

/** Sessions of one domain that had the same result. */
export interface Row {
  /** Domain whose mail servers were connected to. */
  readonly domain: string
  readonly policy: PolicyType
  /** Kind of failure (RFC 8460 §4.3), or null for sessions that succeeded. */
  readonly failure: string | null
  /** Mail server of the failed sessions, where the report names it. */
  readonly server: string | null
  readonly sessions: number
}

export interface TlsReport {
  readonly _tag: "Tls"
  readonly orgName: string
  readonly reportId: string
  /** Milliseconds since 1970. */
  readonly begin: number
  readonly end: number
  readonly rows: ReadonlyArray<Row>
}

export type TlsProblem = "malformed_json" | "not_a_report" | "too_many_records"

type Fields = Readonly<Record<string, unknown>>

/** Reads a report of RFC 8460. */
export const read = (text: string): TlsReport | TlsProblem => {
  const json = parsed(text)
  if (json === undefined) return "malformed_json"
  const range = fieldsOf(json["date-range"])
  const [begin, end] = [range["start-datetime"], range["end-datetime"]].map(time)
  const reportId = ReportText.line(textOf(json["report-id"]), ReportText.MAX_ID_CHARS)
  const policies = json["policies"]
  if (begin === undefined || end === undefined || end < begin || reportId === "" || !Array.isArray(policies))
    return "not_a_report"
  if (policies.length > MAX_POLICIES) return "too_many_records"
  const rows: Array<Row> = []
  for (const policy of policies) {
    const read = rowsOf(fieldsOf(policy))
    if (typeof read === "string") return read
    rows.push(...read)
  }
  const orgName = ReportText.orgName(textOf(json["organization-name"]))
  return { _tag: "Tls", orgName, reportId, begin, end, rows: limited(rows) }
}

const parsed = (text: string): Fields | undefined => {
  try {
    const json: unknown = JSON.parse(text)
    return typeof json === "object" && json !== null && !Array.isArray(json) ? (json as Fields) : undefined
  } catch {
    return undefined
  }
}

const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "")

/** RFC 3339. Some reporters leave out the zone, which is UTC. */
const TIME = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:?\d\d)?$/u

const time = (value: unknown): number | undefined => {
  const text = textOf(value)
  if (!TIME.test(text)) return undefined
  const millis = Date.parse(/[Zz]$|[+-]\d\d:?\d\d$/u.test(text) ? text : `${text}Z`)
  return Number.isNaN(millis) ? undefined : millis
}

const POLICIES: ReadonlySet<unknown> = new Set<PolicyType>(["sts", "tlsa", "no-policy-found"])
const FAILURE = /^[a-z0-9-]{1,50}$/u
/** Failures that the summary counts and no detail explains. */
const UNEXPLAINED = "unspecified"

const rowsOf = (entry: Fields): ReadonlyArray<Row> | TlsProblem => {
  const policy = fieldsOf(entry["policy"])
  const summary = fieldsOf(entry["summary"])
  const details = entry["failure-details"] ?? []
  const domain = ReportText.domain(textOf(policy["policy-domain"]))
  const type = policy["policy-type"]
  const succeeded = ReportText.count(summary["total-successful-session-count"])
  const failed = ReportText.count(summary["total-failure-session-count"])
  if (domain === undefined || !POLICIES.has(type) || succeeded === undefined || failed === undefined)
    return "not_a_report"
  if (!Array.isArray(details)) return "not_a_report"
  if (details.length > MAX_FAILURES) return "too_many_records"
  const shared = { domain, policy: type as PolicyType }
  const rows: Array<Row> = succeeded === 0 ? [] : [{ ...shared, failure: null, server: null, sessions: succeeded }]
  let explained = 0
  for (const each of details) {
    const detail = fieldsOf(each)
    const sessions = ReportText.count(detail["failed-session-count"])
    const failure = textOf(detail["result-type"]).toLowerCase()
    if (sessions === undefined || !FAILURE.test(failure)) return "not_a_report"
    const server = ReportText.domain(textOf(detail["receiving-mx-hostname"])) ?? null
    // The summary counts: details beyond it would make sessions out of nothing.
    const counted = Math.min(sessions, failed - explained)
    explained += counted
    if (counted > 0) rows.push({ ...shared, failure, server, sessions: counted })
  }
  if (failed > explained) rows.push({ ...shared, failure: UNEXPLAINED, server: null, sessions: failed - explained })
  return rows
}

const limited = (rows: ReadonlyArray<Row>): ReadonlyArray<Row> => {
  const merged = merge(rows)
  if (merged.length <= MAX_ROWS) return merged
  const sorted = merged.toSorted((one, other) => other.sessions - one.sessions)
  const rest = merge(sorted.slice(MAX_ROWS).map((row) => ({ ...row, server: null })))
  return merge([...sorted.slice(0, MAX_ROWS), ...rest])
}

const merge = (rows: ReadonlyArray<Row>): ReadonlyArray<Row> => {
  const groups = Map.groupBy(rows, ({ domain, failure, policy, server }) => [domain, policy, failure, server].join(" "))
  return [...groups.values()].flatMap(([first, ...others]) =>
    first === undefined
      ? []
      : [{ ...first, sessions: others.reduce((sum, { sessions }) => sum + sessions, first.sessions) }],
  )
}
