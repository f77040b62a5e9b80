import * as DomainName from "@waybill/domain/values/DomainName"
import * as DomainRefusal from "@waybill/domain/domain/DomainRefusal"
import type * as Id from "@waybill/domain/values/Id"
import * as Cells from "@waybill/store/routing/Cells"
import * as Domains from "@waybill/store/readmodels/Domains"
import * as SourcePools from "@waybill/store/sources/SourcePools"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import * as AccountArgument from "../AccountArgument.ts"
import * as Output from "../Output.ts"
import * as Ips from "./IpsCommand.ts"

const pool = Argument.String("pool").pipe(Argument.withDescription("Name of the pool"))
const domain = Flag.String("domain").pipe(
  Flag.withDescription("Name or id of a domain; the whole account if left out"),
  Flag.optional,
)
const account = AccountArgument.account

/** Id of the whole account in place of a domain. */
const WHOLE_ACCOUNT = ""
/** Word for mail that waits. */
const LATER = "later"

const list = Command.make(
  "list",
  { json: Output.json },
  Effect.fn(function* ({ json }) {
    const pools = yield* SourcePools.list()
    yield* Output.print(
      pools.map(({ addresses, assignments, name, overflow }) => ({
        name,
        addresses,
        assignments,
        overflow: overflow ?? LATER,
      })),
      { json, columns: ["name", "addresses", "assignments", "overflow"] },
    )
  }),
).pipe(Command.withDescription("List the pools"))

const overflow = Command.make(
  "overflow",
  {
    pool,
    into: Argument.String("into").pipe(Argument.withDescription(`Name of another pool, or ${LATER}`)),
    json: Output.json,
  },
  Effect.fn(function* ({ into, json, pool: name }) {
    const pool = yield* Ips.poolOf(name)
    const other = into === LATER ? null : yield* Ips.poolOf(into)
    if (other === pool) return yield* Ips.refuse("A pool cannot overflow into itself.")
    yield* SourcePools.setOverflow(pool, other)
    yield* Output.printOne({ name: pool, overflow: into }, { json })
  }),
).pipe(Command.withDescription("Set where mail goes for which a pool has no address left: another pool, or later"))

const remove = Command.make(
  "remove",
  { pool, json: Output.json },
  Effect.fn(function* ({ json, pool: name }) {
    const pool = yield* Ips.poolOf(name)
    if (!(yield* SourcePools.remove(pool)))
      return yield* Ips.refuse(
        `Pool ${pool} is in use. Move its addresses, its assignments and the pools that overflow into it first.`,
      )
    yield* Output.printOne({ name: pool, removed: true }, { json })
  }),
).pipe(Command.withDescription("Remove a pool that nothing refers to"))

export const pools = Command.make("pools").pipe(
  Command.withDescription("Groups of source addresses"),
  Command.withSubcommands([list, overflow, remove]),
)

const domainId = Effect.fnUntraced(function* (account_id: Id.AccountId, named: Option.Option<string>) {
  if (Option.isNone(named)) return WHOLE_ACCOUNT
  const name = DomainName.parse(named.value)
  const found = yield* Cells.inCellOf(
    account_id,
    Domains.find(account_id, name._tag === "Success" ? name.success : named.value),
  )
  return (yield* Effect.mapError(Effect.fromOption(found), () => new DomainRefusal.DomainNotFound())).domain_id
})

export const assign = Command.make(
  "assign",
  { pool, account, domain, json: Output.json },
  Effect.fn(function* ({ account, domain, json, pool: name }) {
    const account_id = yield* AccountArgument.idOf(account)
    const domain_id = yield* domainId(account_id, domain)
    const pool = yield* Ips.poolOf(name)
    yield* SourcePools.assign({ account_id, domain_id, pool })
    yield* Output.printOne({ account_id, domain: Option.getOrNull(domain), pool }, { json })
  }),
).pipe(Command.withDescription("Send the mail of a domain, or of an account, from the addresses of a pool only"))

export const unassign = Command.make(
  "unassign",
  { account, domain, json: Output.json },
  Effect.fn(function* ({ account, domain, json }) {
    const account_id = yield* AccountArgument.idOf(account)
    const assigned = (yield* SourcePools.assignments()).filter((each) => each.account_id === account_id)
    // The domain may be gone, and is then known by its id only.
    const removed = assigned.find(({ domain_id }) => domain_id === Option.getOrUndefined(domain))
    const domain_id = removed === undefined ? yield* domainId(account_id, domain) : removed.domain_id
    if (!(yield* SourcePools.unassign(account_id, domain_id)))
      return yield* Ips.refuse("It is not assigned to a pool. `waybill ips assignments` shows all.")
    yield* Output.printOne({ account_id, domain: Option.getOrNull(domain), pool: null }, { json })
  }),
).pipe(Command.withDescription("Send the mail of a domain or account as all other mail"))

export const assignments = Command.make(
  "assignments",
  { json: Output.json },
  Effect.fn(function* ({ json }) {
    const all = yield* SourcePools.assignments()
    yield* Output.print(
      all.map(({ account, account_id, domain, domain_id, pool }) => ({
        account_id,
        account,
        domain: domain_id === WHOLE_ACCOUNT ? null : (domain ?? domain_id),
        pool,
      })),
      { json, columns: ["account_id", "account", "domain", "pool"] },
    )
  }),
).pipe(Command.withDescription("List the accounts and domains with a pool of their own"))
