import type * as T from "@waybill/client/Waybill"
import * as DnsAdvice from "@waybill/domain/domain/DnsAdvice"
import * as HiddenCharacters from "@waybill/domain/values/HiddenCharacters"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import * as TransportName from "../../settings/TransportName.ts"
import * as Options from "../Options.ts"
import * as DataCommand from "../DataCommand.ts"
import * as Output from "../Output.ts"
import * as OutputStyle from "../OutputStyle.ts"
import { ApiClient, call } from "./ApiClient.ts"
import * as DomainReportCommands from "./DomainReportCommands.ts"
import * as ApiCommand from "./ApiCommand.ts"

const COLUMNS = ["name", "status", "dns", "created_at", "verified_at", "last_checked_at"]
const RECORD_COLUMNS = ["type", "name", "zone_host", "value", "required", "status", "error"]

/** The commands that read or change the database of an instance, and are loaded only then. */
const inDatabase = Effect.promise(() => import("../commands/DomainTransports.ts"))

const name = Options.argument("domain", "Domain name, such as news.example.com")

/** Shows a check, which a person repeats until nothing is missing: then the records say nothing new. */
const showCheck = Effect.fnUntraced(function* (domain: T.Domain) {
  const found = foundOf(domain)
  const isDone = domain.records.every(({ required, status }) => !required || status === "verified")
  if (domain.status !== "verified" || !(isDone || found === undefined) || !(yield* OutputStyle.isTerminal))
    return yield* show(domain)
  const why =
    found === undefined ? DnsAdvice.NEEDS_NO_DNS : `${found} required DNS records were found; --wide shows them.`
  yield* Output.sayColoured(`${yield* stateOf(domain)} ${why}`)
})

const stateOf = ({ name, status }: T.Domain) =>
  Effect.map(
    OutputStyle.current,
    (style) =>
      `${HiddenCharacters.escape(name)} is ${OutputStyle.coloured(status, OutputStyle.colourOf(status), style)}.`,
  )

const show = Effect.fnUntraced(function* (domain: T.Domain) {
  if (!DnsAdvice.needsNoDns(domain)) return yield* showRecords(domain)
  yield* Output.sayColoured(`${yield* stateOf(domain)} ${DnsAdvice.NEEDS_NO_DNS}`)
})

const showRecords = Effect.fnUntraced(function* (domain: T.Domain) {
  const { records, zone } = domain
  const style = yield* OutputStyle.current
  const isTerminal = style.columns !== undefined
  yield* Output.sayColoured(`${yield* stateOf(domain)} Its DNS records:`)
  yield* Output.say("")
  // A value must be copied whole, so that it has a line of its own.
  if (isTerminal) yield* Effect.forEach(records, (record) => showRecord(record, style), { discard: true })
  else yield* Output.print(records, { json: false, columns: RECORD_COLUMNS })
  const inZone = `Where your DNS provider adds ${zone}, enter ${isTerminal ? "the host in brackets" : "zone_host"} instead of the name.`
  const notes = [
    ...(records.some(hasOwnHost) ? [inZone] : []),
    ...(DnsAdvice.lacksReturnPath(records) ? [DnsAdvice.NO_RETURN_PATH] : []),
  ]
  if (notes.length > 0) yield* Output.sayFolded("", ...notes)
})

const hasOwnHost = ({ name, zone_host }: T.DnsRecord): boolean => zone_host !== null && zone_host !== name

/** How many of the required records were found; undefined if DNS was not asked. */
const foundOf = ({ records }: T.Domain): string | undefined => {
  const required = records.filter((record) => record.required)
  if (required.every(({ status }) => status === "not_checked")) return undefined
  return `${required.filter(({ status }) => status === "verified").length} of ${required.length}`
}

const STATUS_WIDTH = "not_checked  ".length
const INDENT = " ".repeat(STATUS_WIDTH)

const showRecord = Effect.fnUntraced(function* (record: T.DnsRecord, style: OutputStyle.Style) {
  const { error, name, priority, required, status, type, value } = record
  const state = OutputStyle.coloured(status.padEnd(STATUS_WIDTH), OutputStyle.colourOf(status), style)
  const note = [...(required ? [] : ["optional"]), ...(hasOwnHost(record) ? [`host ${record.zone_host}`] : [])]
  yield* Output.sayColoured(
    `${state}${HiddenCharacters.escape(`${type.padEnd(6)}${name}${note.length === 0 ? "" : `  (${note.join(", ")})`}`)}`,
  )
  yield* Output.say(`${INDENT}${priority === null ? "" : `${priority} `}${value}`)
  // The state says that DNS has no such name.
  if (error !== null && status !== "missing") yield* Output.say(`${INDENT}${error}`)
})

/** Makes a command that shows a domain, which the API returns. */
const one = (ask: (client: T.Waybill, name: string) => Promise<T.Domain>, tell = show) =>
  DataCommand.told(
    { name },
    function* ({ name }) {
      return yield* call((client) => ask(client, name))
    },
    tell,
  ).with(Command.provide(ApiClient.layer))

const add = one((client, name) => client.domains.add(name))
const get = one((client, name) => client.domains.get(name))
const verify = one((client, name) => client.domains.verify(name), showCheck)
const rotateDkim = one((client, name) => client.domains.rotateDkim(name), showRecords)

const remove = ApiCommand.record({ name }, ({ domains }, { name }) => domains.remove(name)).with(
  Command.provide(ApiClient.layer),
)

const list = DataCommand.command(
  { account: Options.account.pipe(Flag.withDescription("For operators: read the database, for this account")) },
  function* ({ account, json }) {
    if (Option.isSome(account)) return yield* (yield* inDatabase).list(account, json)
    const { data } = yield* Effect.provide(
      call((client) => client.domains.list()),
      ApiClient.layer,
    )
    yield* Output.print(
      data.map((domain) => ({ ...domain, dns: foundOf(domain) })),
      { json, columns: COLUMNS, none: "No domains yet. `waybill domains add DOMAIN` adds one." },
    )
  },
)

const transport = DataCommand.command(
  {
    account: Options.account,
    domain: Options.argument("domain", "Domain name or id, dom_…"),
    transport: Argument.Literals("transport", [...TransportName.NAMES, "default"]),
  },
  function* ({ json, ...choice }) {
    yield* (yield* inDatabase).setTransport(choice, json)
  },
)

export const domains = DataCommand.group({
  list: ["List the domains; with --account, those in the database with their transports", list],
  get: ["Show a domain and its DNS records as last checked", get],
  add: ["Add a domain and show the DNS records to publish", add],
  verify: ["Check the DNS records of a domain now", verify],
  "rotate-dkim": [
    "Make a new DKIM key and show the record to publish; the old one signs until it is found",
    rotateDkim,
  ],
  remove: ["Delete a domain", remove],
  dmarc: ["Show who sends mail in the name of a domain", DomainReportCommands.dmarc],
  tls: ["Show whether other mail servers can deliver to a domain with TLS", DomainReportCommands.tls],
  transport: ["For operators, in the database: set the transport; default restores that of the instance", transport],
})
