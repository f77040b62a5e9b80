import * as DomainName from "@waybill/domain/values/DomainName"
import * as DomainRefusal from "@waybill/domain/domain/DomainRefusal"
import type * as Id from "@waybill/domain/values/Id"
import * as Databases from "@waybill/store/routing/Databases"
import * as Domains from "@waybill/store/readmodels/Domains"
import * as SourcePools from "@waybill/store/sources/SourcePools"
import { Effect, Option } from "effect"
import { Argument, Command } from "effect/cli"
import * as AccountArgument from "../AccountArgument.ts"
import * as Options from "../Options.ts"
import * as DataCommand from "../DataCommand.ts"
import * as Ips from "./IpsCommand.ts"

const pool = Argument.String("pool").pipe(Argument.withDescription("Name of the pool"))
const domain = Options.text("domain", "Name or id of a domain; the whole account if left out")
const account = AccountArgument.account

/** Id of the whole account in place of a domain. */
const WHOLE_ACCOUNT = ""
/** Word for mail that waits. */
const LATER = "later"

const list = DataCommand.list(
  "list",
  "List the pools",
  {},
  ["name", "addresses", "assignments", "overflow"],
  function* () {
    const pools = yield* SourcePools.list()
    return pools.map(({ addresses, assignments, name, overflow }) => ({
      name,
      addresses,
      assignments,
      overflow: overflow ?? LATER,
    }))
  },
)

const overflow = DataCommand.record(
  "overflow",
  "Set where mail goes for which a pool has no address left: another pool, or later",
  {
    pool,
    into: Argument.String("into").pipe(Argument.withDescription(`Name of another pool, or ${LATER}`)),
  },
  function* ({ into, pool: name }) {
    const pool = yield* Ips.poolOf(name)
    const other = into === LATER ? null : yield* Ips.poolOf(into)
    if (other === pool) return yield* Ips.refuse("A pool cannot overflow into itself.")
    yield* SourcePools.setOverflow(pool, other)
    return { name: pool, overflow: into }
  },
)

const remove = DataCommand.record(
  "remove",
  "Remove a pool that nothing refers to",
  { pool },
  function* ({ pool: name }) {
    const pool = yield* Ips.poolOf(name)
    if (!(yield* SourcePools.remove(pool)))
      return yield* Ips.refuse(
        `Pool ${pool} is in use. Move its addresses, its assignments and the pools that overflow into it first.`,
      )
    return { name: pool, removed: true }
  },
)

export const pools = Command.make("pools").pipe(
  Command.withDescription("Groups of source addresses"),
  Command.withSubcommands([list, overflow, remove]),
)

const domainId = Effect.fnUntraced(function* (account_id: Id.AccountId, named: Option.Option<string>) {
  if (Option.isNone(named)) return WHOLE_ACCOUNT
  const name = DomainName.parse(named.value)
  const found = yield* Databases.ofAccount(
    account_id,
    Domains.find(account_id, name._tag === "Success" ? name.success : named.value),
  )
  return (yield* Effect.mapError(Effect.fromOption(found), () => new DomainRefusal.DomainNotFound())).domain_id
})

export const assign = DataCommand.record(
  "assign",
  "Send the mail of a domain, or of an account, from the addresses of a pool only",
  { pool, account, domain },
  function* ({ account, domain, pool: name }) {
    const account_id = yield* AccountArgument.idOf(account)
    const domain_id = yield* domainId(account_id, domain)
    const pool = yield* Ips.poolOf(name)
    yield* SourcePools.assign({ account_id, domain_id, pool })
    return { account_id, domain: Option.getOrNull(domain), pool }
  },
)

export const unassign = DataCommand.record(
  "unassign",
  "Send the mail of a domain or account as all other mail",
  { account, domain },
  function* ({ account, domain }) {
    const account_id = yield* AccountArgument.idOf(account)
    const assigned = (yield* SourcePools.assignments()).filter((each) => each.account_id === account_id)
    // The domain may be gone, and is then known by its id only.
    const removed = assigned.find(({ domain_id }) => domain_id === Option.getOrUndefined(domain))
    const domain_id = removed === undefined ? yield* domainId(account_id, domain) : removed.domain_id
    if (!(yield* SourcePools.unassign(account_id, domain_id)))
      return yield* Ips.refuse("It is not assigned to a pool. `waybill ips assignments` shows all.")
    return { account_id, domain: Option.getOrNull(domain), pool: null }
  },
)

export const assignments = DataCommand.list(
  "assignments",
  "List the accounts and domains with a pool of their own",
  {},
  ["account_id", "account", "domain", "pool"],
  function* () {
    const all = yield* SourcePools.assignments()
    return all.map(({ account, account_id, domain, domain_id, pool }) => ({
      account_id,
      account,
      domain: domain_id === WHOLE_ACCOUNT ? null : (domain ?? domain_id),
      pool,
    }))
  },
)
