import { customer, type Group, internal, operator } from "./Bound.ts"

const READ = "packages/mail/src/aggregate/readAggregate.ts"
const FILE = "packages/mail/src/aggregate/ReportFile.ts"
const DMARC = "packages/mail/src/aggregate/DmarcReport.ts"
const TLS = "packages/mail/src/aggregate/TlsReport.ts"
const XML = "packages/mail/src/aggregate/XmlReader.ts"
const STORE = "packages/store/src/domainreports/DomainReports.ts"
const RECEIVE = "apps/server/src/smtp/DomainReports.ts"
const API = "packages/api/src/schemas/DomainReports.ts"
const SETTINGS = "apps/server/src/settings/DatabaseSettings.ts"

/** Bounds of aggregate reports about domains. */
export const reportBounds: ReadonlyArray<Group> = [
  {
    title: "DMARC and TLS reports",
    bounds: [
      customer("A mail with a report", "MAX_MAIL_BYTES", READ, "dropped"),
      operator("Bytes of such mails in progress per process", "MAX_BYTES_HELD", RECEIVE, "452"),
      customer("A report, unpacked", "MAX_TEXT_BYTES", FILE, "dropped"),
      internal("Ratio of a report to its packed form, beyond the first MiB", "MAX_RATIO", FILE, "dropped"),
      internal("Files of an archive", "MAX_ENTRIES", FILE, "dropped"),
      internal("Nesting of elements", "MAX_DEPTH", XML, "dropped"),
      internal("Characters of the text of an element that are read", "MAX_TEXT_CHARS", XML, "the rest is not read"),
      customer("Records of a DMARC report", "MAX_RECORDS", DMARC, "dropped"),
      customer("Rows of a DMARC report that are kept apart", "MAX_ROWS", DMARC, "further sources are added up"),
      internal("Policies of a TLS report", "MAX_POLICIES", TLS, "dropped"),
      customer("Failures of a policy in a TLS report", "MAX_FAILURES", TLS, "dropped"),
      customer("Rows of a TLS report that are kept apart", "MAX_ROWS", TLS, "further servers are added up"),
      internal(
        "DKIM signatures of a mail that are read",
        "MAX_SIGNATURES",
        "packages/mail/src/dkim/DkimSignature.ts",
        "not read",
      ),
      customer("Age of a report, from the end of its period", "MAX_AGE_DAYS", RECEIVE, "dropped"),
      customer("Period of a report", "MAX_PERIOD_DAYS", RECEIVE, "dropped"),
      customer(
        "Levels below the domain of a policy at which your domains are looked for",
        "MAX_LEVELS",
        RECEIVE,
        "the mail counts for the domain above",
      ),
      customer("Verified reports of a day about a domain", "MAX_PER_DAY", STORE, "dropped"),
      customer("Unverified reports of a day about a domain", "MAX_UNVERIFIED_PER_DAY", STORE, "dropped"),
      operator(
        "Domains, of all accounts, that one report is recorded for",
        "MAX_DOMAINS",
        STORE,
        "the others get none",
      ),
      customer("`days` of the reports of a domain", "MAX_DAYS", API, "400"),
      customer("`limit` of the reports of a domain", "MAX_ROWS", API, "400"),
      customer(
        "Reporters in a response",
        "MAX_REPORTERS",
        "packages/store/src/domainreports/Reporters.ts",
        "those with older reports are left out",
      ),
      operator("`DOMAIN_REPORT_DAYS`, at most", "MAX_DOMAIN_REPORT_DAYS", SETTINGS, "the process does not start"),
    ],
  },
]
