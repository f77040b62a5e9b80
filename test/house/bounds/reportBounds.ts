import { customer, type Group, operator } from "./Bound.ts"

const READ = "packages/mail/src/aggregate/readAggregate.ts"
const FILE = "packages/mail/src/aggregate/ReportFile.ts"
const DMARC = "packages/mail/src/aggregate/DmarcReport.ts"
const STORE = "packages/store/src/domainreports/DomainReports.ts"
const RECEIVE = "apps/server/src/smtp/ReceivedDomainReports.ts"
const API = "packages/api/src/schemas/DomainReports.ts"
const SETTINGS = "apps/server/src/settings/DatabaseSettings.ts"

const WITNESS = "apps/server/src/witness/"
const ASK = "apps/server/src/worker/periodic/askWitnesses.ts"

/** Bounds of aggregate reports about domains, and of witnesses of the log. */
export const reportBounds: ReadonlyArray<Group> = [
  {
    title: "DMARC and TLS reports",
    bounds: [
      customer("A mail with a report", "MAX_MAIL_BYTES", READ, "dropped"),
      customer("A report, unpacked", "MAX_TEXT_BYTES", FILE, "dropped"),
      customer("Records of a DMARC report", "MAX_RECORDS", DMARC, "dropped"),
      customer("Age of a report, from the end of its period", "MAX_AGE_DAYS", RECEIVE, "dropped"),
      customer("Verified reports of a day about a domain", "MAX_PER_DAY", STORE, "dropped"),
      customer("Unverified reports of a day about a domain", "MAX_UNVERIFIED_PER_DAY", STORE, "dropped"),
      customer("`days` of the reports of a domain", "MAX_DAYS", API, "400"),
      operator("`DOMAIN_REPORT_DAYS`, at most", "MAX_DOMAIN_REPORT_DAYS", SETTINGS, "the process does not start"),
    ],
  },
  {
    title: "The signed log and its witnesses",
    bounds: [
      operator(
        "Time since the last process with a former `BASE_URL`, until the log takes the name of the new one",
        "HELD_SECONDS",
        "packages/store/src/transparency/Checkpoints.ts",
        "the log is signed under the former name",
      ),
      operator(
        "Witnesses in `WITNESSES`",
        "MAX_WITNESSES",
        "apps/server/src/settings/Witnesses.ts",
        "the process does not start",
      ),
      operator("Answer of a witness", "ASK_TIMEOUT", ASK, "it is asked again later"),
      operator("Answer of a witness, on the wire", "ASK_WIRE_BYTES", ASK, "it is asked again later"),
      operator("Logs of `waybill witness`", "MAX_LOGS", `${WITNESS}WitnessConfig.ts`, "it does not start"),
      operator(
        "Names of logs of one instance in `waybill witness`",
        "MAX_LOGS_OF_INSTANCE",
        `${WITNESS}Witness.ts`,
        "further ones are not followed",
      ),
      operator(
        "Answer of a log to `waybill witness`",
        "READ_TIMEOUT",
        `${WITNESS}LogReader.ts`,
        "it is read again later",
      ),
      operator(
        "Answer of a log to `waybill witness`, on the wire",
        "READ_WIRE_BYTES",
        `${WITNESS}LogReader.ts`,
        "it is read again later",
      ),
      operator("A request to `waybill witness`", "MAX_REQUEST_BYTES", `${WITNESS}WitnessServer.ts`, "400"),
      operator("Open connections to `waybill witness`", "MAX_CONNECTIONS", `${WITNESS}WitnessServer.ts`, "refused"),
    ],
  },
]
