import * as Domain from "@waybill/domain/domain/Domain"
import * as DomainName from "@waybill/domain/domain/DomainName"
import { DomainNotFound } from "@waybill/domain/domain/DomainRefusal"
import type * as Id from "@waybill/domain/values/Id"
import * as Domains from "@waybill/store/readmodels/Domains"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Effect, Option } from "effect"
import { Argument, Command } from "effect/cli"
import { now } from "../../operate/fresh.ts"
import * as Settings from "../../boot/Settings.ts"
import * as accounts from "../AccountArgument.ts"
import * as output from "../output.ts"
import { withStore } from "../CliStore.ts"

const COLUMNS = ["id", "name", "status", "transport"]
/** What stands in the log as no choice at all. */
const DEFAULT = "default"

const row = ({ domain_id, name, status, transport }: Domains.DomainRecord) => ({
  id: domain_id,
  name,
  status,
  transport: transport ?? DEFAULT,
})

const list = Command.make(
  "list",
  { account: accounts.account, json: output.json },
  Effect.fn(function* ({ account, json }) {
    yield* accounts.find(account)
    yield* output.print((yield* Domains.list(account)).map(row), { json, columns: COLUMNS })
  }),
).pipe(Command.withDescription("List an account's domains"))

const transport = Command.make(
  "transport",
  {
    account: accounts.account,
    domain: Argument.String("domain").pipe(Argument.withDescription("Its name, or its id, dom_…")),
    transport: Argument.Literals("transport", ["capture", "relay", "direct", DEFAULT]),
    json: output.json,
  },
  Effect.fn(function* ({ account, domain, json, transport }) {
    yield* accounts.find(account)
    const choice = transport === DEFAULT ? null : transport
    const { domain_id } = yield* find(account, domain)
    const store = yield* EventStore
    const at = yield* now
    yield* store
      .commit(Domain, { account_id: account, stream_id: domain_id }, Domain.chooseTransport(at, choice))
      // A change that changes nothing is no failure at the command line.
      .pipe(Effect.catchTag("NothingNew", () => Effect.void))
    const changed = yield* find(account, domain_id)
    for (const warning of warnings(changed, yield* Settings.load)) yield* output.complain(`waybill: ${warning}`)
    yield* output.printOne(row(changed), { json })
  }),
).pipe(Command.withDescription("Choose how a domain's mail leaves, if not as the instance's; default takes that back"))

const find = Effect.fnUntraced(function* (account: Id.AccountId, nameOrId: string) {
  // Written with capitals or an umlaut, it is the same domain.
  const name = DomainName.parse(nameOrId)
  const found = yield* Domains.find(account, name._tag === "Success" ? name.success : nameOrId)
  return yield* Effect.mapError(Effect.fromOption(found), () => new DomainNotFound())
})

/** What is chosen is the operator's to decide, but not in the dark. */
const warnings = ({ name, transport }: Domains.DomainRecord, settings: Settings.Settings): ReadonlyArray<string> => {
  const kind = transport ?? settings.transport
  return [
    ...(kind === "relay" && Option.isNone(settings.smtpUrl)
      ? ["SMTP_URL is not set here; where the service runs without it, this domain's mail waits"]
      : []),
    ...(kind !== "capture" && DomainName.isReserved(name)
      ? [`nobody can publish records for ${name}, so outside capture it degrades, and fails 72 hours later`]
      : []),
  ]
}

export const domains = Command.make("domains").pipe(
  Command.withDescription("Domains, and how their mail leaves"),
  Command.withSubcommands([list, transport]),
  Command.provide(withStore),
)
