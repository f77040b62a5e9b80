import * as Domain from "@waybill/domain/domain/Domain"
import * as DomainName from "@waybill/domain/values/DomainName"
import type * as Id from "@waybill/domain/values/Id"
import * as Databases from "@waybill/store/routing/Databases"
import * as Domains from "@waybill/store/readmodels/Domains"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Effect, Option } from "effect"
import * as NewIds from "../../process/NewIds.ts"
import * as Settings from "../../settings/Settings.ts"
import * as TransportName from "../../settings/TransportName.ts"
import * as AccountArgument from "../AccountArgument.ts"
import * as Output from "../Output.ts"
import * as CliStore from "../CliStore.ts"

const COLUMNS = ["id", "name", "status", "transport"]
/** Value for a domain without a transport of its own. */
const DEFAULT = "default" satisfies Choice["transport"]

const row = ({ domain_id, name, status, transport }: Domains.DomainRecord) => ({
  id: domain_id,
  name,
  status,
  transport: transport === null ? DEFAULT : TransportName.fromStored(transport),
})

/** Lists the domains of an account with their transports, from the database. */
export const list = Effect.fnUntraced(function* (named: Option.Option<Id.AccountId>, json: boolean) {
  const account = yield* AccountArgument.idOf(named)
  yield* Output.print((yield* Databases.ofAccount(account, Domains.list(account))).map(row), { json, columns: COLUMNS })
}, Effect.provide(CliStore.layer))

export interface Choice {
  readonly account: Option.Option<Id.AccountId>
  readonly domain: string
  readonly transport: (typeof TransportName.NAMES)[number] | "default"
}

/** Sets the transport of a domain. */
export const setTransport = Effect.fnUntraced(function* ({ account: named, domain, transport }: Choice, json: boolean) {
  const account = yield* AccountArgument.idOf(named)
  const choice = transport === DEFAULT ? null : TransportName.toStored(transport)
  const { domain_id } = yield* AccountArgument.findDomain(account, domain)
  const store = yield* EventStore
  const at = yield* NewIds.now
  yield* store.commit(Domain, { account_id: account, stream_id: domain_id }, Domain.chooseTransport(at, choice))
  const changed = yield* AccountArgument.findDomain(account, domain_id)
  for (const warning of warnings(changed, yield* Settings.load)) yield* Output.complain(`waybill: ${warning}`)
  yield* Output.printOne(row(changed), { json })
}, Effect.provide(CliStore.layer))

/** Returns warnings about the chosen transport, which is set nevertheless. */
const warnings = ({ name, transport }: Domains.DomainRecord, settings: Settings.Settings): ReadonlyArray<string> => {
  const kind = transport ?? settings.transport
  return [
    ...(kind === "relay" && Option.isNone(settings.smtpUrl)
      ? ["SMTP_URL is not set here. If the service has none either, mail of this domain is deferred."]
      : []),
    ...(kind === "nodemailer" && Option.isNone(settings.nodemailerTransport)
      ? ["NODEMAILER_TRANSPORT is not set here. If the service has none either, mail of this domain is deferred."]
      : []),
    ...(kind !== "capture" && DomainName.isReserved(name)
      ? [
          `${name} is a reserved name, which DNS records cannot verify. Without the sandbox, the domain loses its verification after 72 hours.`,
        ]
      : []),
  ]
}
