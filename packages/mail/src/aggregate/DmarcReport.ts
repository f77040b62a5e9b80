import * as DmarcOverride from "./DmarcOverride.ts"
import * as ReportText from "./ReportText.ts"
import * as XmlReader from "./XmlReader.ts"

/** Maximum number of records of a report that are read. */
export const MAX_RECORDS = 50_000
/** Maximum number of different rows that are kept of a report; the mail of further sources is added up. */
export const MAX_ROWS = 1_000

export type Disposition = "none" | "quarantine" | "reject"

/** Mail of one source that had the same result. */
export interface Row {
  /** Domain of the From header. */
  readonly domain: string
  /** Address of the server that sent the mail; null for all sources beyond the limit together. */
  readonly source: string | null
  readonly disposition: Disposition
  /** Whether a DKIM signature is aligned with the domain of the From header, and whether SPF is. */
  readonly dkim: boolean
  readonly spf: boolean
  readonly messages: number
  /** Domain of a signature, and of the return path; they often name the service that sent the mail. */
  readonly dkimDomain: string | null
  readonly spfDomain: string | null
  /** Reasons for which the receiver did not apply the policy. */
  readonly overrides: ReadonlyArray<DmarcOverride.CountedOverride>
}

export interface DmarcReport {
  readonly _tag: "Dmarc"
  /** Name that the reporter gives itself, and its id of the report. */
  readonly orgName: string
  readonly reportId: string
  /** Milliseconds since 1970. */
  readonly begin: number
  readonly end: number
  /** Domain at which the policy is published. */
  readonly domain: string
  readonly rows: ReadonlyArray<Row>
}

export type DmarcProblem = "malformed_xml" | "not_a_report" | "too_many_records"

/**
 * Reads an aggregate report of RFC 7489 (appendix C) or of RFC 9990. Reporters differ: namespaces with and without a
 * prefix, missing fields, several signatures, several SPF results. Only what is stored must be there.
 */
export const read = (text: string): DmarcReport | DmarcProblem => {
  const reader = new Reader()
  const isWellFormed = XmlReader.read(text, {
    open: (name) => reader.open(name),
    close: (name, value) => reader.close(name, value),
  })
  if (!isWellFormed) return "malformed_xml"
  return reader.report()
}

interface AuthResult {
  readonly domain: string | undefined
  readonly passed: boolean
}

type Fields = Map<string, string>

class Reader {
  /** Paths of the open elements below the root, the innermost last. */
  readonly #paths: Array<string> = []
  readonly #fields: Fields = new Map()
  #record: Fields = new Map()
  #auth: Fields = new Map()
  #dkim: Array<AuthResult> = []
  #spf: Array<AuthResult> = []
  #reason: Fields = new Map()
  #overrides: Array<DmarcOverride.Override> = []
  #records = 0
  #unreadable = 0
  readonly #rows = new Map<string, Mutable>()

  open(name: string): void {
    const above = this.#paths.at(-1)
    // The root and its children have no path above them.
    this.#paths.push(above === undefined ? "" : above === "" ? name : `${above}/${name}`)
    if (this.#paths.length === 2 && name === "record") {
      this.#record = new Map()
      this.#dkim = []
      this.#spf = []
      this.#overrides = []
    }
    if (this.#paths.at(-1) === REASON) this.#reason = new Map()
    if (this.#paths.length === 4) this.#auth = new Map()
  }

  close(name: string, text: string): void {
    const path = this.#paths.pop() ?? ""
    if (path === "record") this.#endRecord()
    else if (path === "record/auth_results/dkim") add(this.#dkim, this.#auth)
    else if (path === "record/auth_results/spf") add(this.#spf, this.#auth)
    else if (path.startsWith("record/auth_results/")) {
      if (name === "domain" || name === "result") this.#auth.set(name, text)
    } else if (path === REASON) this.#endReason()
    else if (path === `${REASON}/type` || path === `${REASON}/comment`) this.#reason.set(name, text)
    else if (path.startsWith("record/")) setFirst(this.#record, path.slice("record/".length), text)
    else setFirst(this.#fields, path, text)
    if (this.#paths.length === 0) this.#fields.set("root", name)
  }

  report(): DmarcReport | DmarcProblem {
    const domain = ReportText.domain(this.#fields.get("policy_published/domain"))
    const begin = seconds(this.#fields.get("report_metadata/date_range/begin"))
    const end = seconds(this.#fields.get("report_metadata/date_range/end"))
    const reportId = ReportText.line(this.#fields.get("report_metadata/report_id") ?? "", ReportText.MAX_ID_CHARS)
    if (this.#fields.get("root") !== "feedback" || domain === undefined || begin === undefined || end === undefined)
      return "not_a_report"
    if (reportId === "" || end < begin || this.#unreadable > 0) return "not_a_report"
    if (this.#records > MAX_RECORDS) return "too_many_records"
    return {
      _tag: "Dmarc",
      orgName: ReportText.orgName(this.#fields.get("report_metadata/org_name") ?? ""),
      reportId,
      begin,
      end,
      domain,
      rows: limited(within(this.#rows.values(), domain), domain),
    }
  }

  #endReason(): void {
    const override = DmarcOverride.parse(this.#reason.get("type") ?? "", this.#reason.get("comment") ?? "")
    if (override !== undefined && !this.#overrides.some(({ reason }) => reason === override.reason))
      this.#overrides.push(override)
  }

  #endRecord(): void {
    if (++this.#records > MAX_RECORDS) return
    const source = ReportText.address(this.#record.get("row/source_ip") ?? "")
    const messages = ReportText.count(this.#record.get("row/count"))
    if (source === undefined || messages === undefined) return void this.#unreadable++
    if (messages === 0) return
    addRow(this.#rows, {
      // A few reporters leave out the identifiers, which means the domain of the policy.
      domain: ReportText.domain(this.#record.get("identifiers/header_from")) ?? "",
      source,
      disposition: dispositionOf(this.#record.get("row/policy_evaluated/disposition")),
      dkim: isPass(this.#record.get("row/policy_evaluated/dkim")),
      spf: isPass(this.#record.get("row/policy_evaluated/spf")),
      messages,
      dkimDomain: domainIn(this.#dkim),
      spfDomain: domainIn(this.#spf),
      overrides: this.#overrides.map((override) => ({ ...override, messages })),
    })
  }
}

const REASON = "record/row/policy_evaluated/reason"

/** Mail whose From domain is not at or below the domain of the policy counts for that. The policy may stand last. */
const within = (rows: Iterable<Row>, policy: string): ReadonlyArray<Row> => {
  const all = new Map<string, Mutable>()
  for (const row of rows) {
    const isWithin = row.domain === policy || row.domain.endsWith(`.${policy}`)
    addRow(all, isWithin ? row : { ...row, domain: policy })
  }
  return [...all.values()]
}

/** The first value counts where a field is repeated. Fields that are not used are not kept. */
const setFirst = (fields: Fields, path: string, text: string): void => {
  if (USED.has(path) && !fields.has(path)) fields.set(path, text)
}
const USED: ReadonlySet<string> = new Set([
  "policy_published/domain",
  "report_metadata/org_name",
  "report_metadata/report_id",
  "report_metadata/date_range/begin",
  "report_metadata/date_range/end",
  "row/source_ip",
  "row/count",
  "row/policy_evaluated/disposition",
  "row/policy_evaluated/dkim",
  "row/policy_evaluated/spf",
  "identifiers/header_from",
])

const add = (results: Array<AuthResult>, fields: Fields): void => {
  if (results.length >= MAX_AUTH_RESULTS) return
  results.push({ domain: ReportText.domain(fields.get("domain")), passed: isPass(fields.get("result")) })
}
const MAX_AUTH_RESULTS = 100

const isPass = (text = ""): boolean => text.toLowerCase() === "pass"

/** The domain of a result that passed says more than that of one that failed. */
const domainIn = (results: ReadonlyArray<AuthResult>): string | null =>
  (
    results.find(({ domain, passed }) => passed && domain !== undefined) ??
    results.find(({ domain }) => domain !== undefined)
  )?.domain ?? null

/** RFC 9990 says `pass` for mail that no policy applied to. */
const dispositionOf = (text = ""): Disposition => {
  const word = text.toLowerCase()
  return word === "quarantine" || word === "reject" ? word : "none"
}

const seconds = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,11}$/u.test(text) ? Number(text) * 1000 : undefined

type Mutable = { -readonly [K in keyof Row]: Row[K] }

const addRow = (rows: Map<string, Mutable>, row: Row): void => {
  const key = [row.domain, row.source, row.disposition, row.dkim, row.spf].join(" ")
  const same = rows.get(key)
  if (same === undefined) return void rows.set(key, { ...row })
  same.messages += row.messages
  same.dkimDomain ??= row.dkimDomain
  same.spfDomain ??= row.spfDomain
  if (row.overrides.length > 0) same.overrides = DmarcOverride.merge([...same.overrides, ...row.overrides])
}

/** Keeps the rows of the most mail, and adds up the others under the domain of the policy. */
const limited = (rows: ReadonlyArray<Row>, domain: string): ReadonlyArray<Row> => {
  if (rows.length <= MAX_ROWS) return rows
  const sorted = rows.toSorted((one, other) => other.messages - one.messages)
  const rest = new Map<string, Mutable>()
  for (const row of sorted.slice(MAX_ROWS))
    addRow(rest, { ...row, domain, source: null, dkimDomain: null, spfDomain: null })
  return [...sorted.slice(0, MAX_ROWS), ...rest.values()]
}
