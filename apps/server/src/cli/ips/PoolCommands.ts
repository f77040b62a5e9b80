import type * as Id from "@waybill/domain/values/Id"
import * as SourcePools from "@waybill/store/sources/SourcePools"
import { Effect, Option } from "effect"
import * as AccountArgument from "../AccountArgument.ts"
import * as Options from "../Options.ts"
import * as DataCommand from "../DataCommand.ts"
import * as Ips from "./IpsCommand.ts"

const pool = Options.argument("pool", "Name of the pool")
const domain = Options.text("domain", "Name or id of a domain; the whole account if left out")
const account = AccountArgument.account

/** Id of the whole account in place of a domain. */
const WHOLE_ACCOUNT = ""
/** Word for mail that waits. */
const LATER = "later"

const list = DataCommand.list({}, ["name", "addresses", "assignments", "overflow"], function* () {
  const pools = yield* SourcePools.list()
  return pools.map(({ addresses, assignments, name, overflow }) => ({
    name,
    addresses,
    assignments,
    overflow: overflow ?? LATER,
  }))
})

const overflow = DataCommand.record(
  {
    pool,
    into: Options.argument("into", `Name of another pool, or ${LATER}`),
  },
  function* ({ into, pool: name }) {
    const pool = yield* Ips.poolOf(name)
    const other = into === LATER ? null : yield* Ips.poolOf(into)
    if (other === pool) return yield* Ips.refuse("A pool cannot overflow into itself.")
    yield* SourcePools.setOverflow(pool, other)
    return { name: pool, overflow: into }
  },
)

const remove = DataCommand.record({ pool }, function* ({ pool: name }) {
  const pool = yield* Ips.poolOf(name)
  if (!(yield* SourcePools.remove(pool)))
    return yield* Ips.refuse(
      `Pool ${pool} is in use. Move its addresses, its assignments and the pools that overflow into it first.`,
    )
  return { name: pool, removed: true }
})

export const pools = DataCommand.group({
  list: ["List the pools", list],
  overflow: ["Set where mail goes for which a pool has no address left: another pool, or later", overflow],
  remove: ["Remove a pool that nothing refers to", remove],
})

const domainId = (account_id: Id.AccountId, named: Option.Option<string>) =>
  Option.isNone(named)
    ? Effect.succeed(WHOLE_ACCOUNT)
    : Effect.map(AccountArgument.findDomain(account_id, named.value), ({ domain_id }) => domain_id as string)

export const assign = DataCommand.record({ pool, account, domain }, function* ({ account, domain, pool: name }) {
  const account_id = yield* AccountArgument.idOf(account)
  const domain_id = yield* domainId(account_id, domain)
  const pool = yield* Ips.poolOf(name)
  yield* SourcePools.assign({ account_id, domain_id, pool })
  return { account_id, domain: Option.getOrNull(domain), pool }
})

export const unassign = DataCommand.record({ account, domain }, function* ({ account, domain }) {
  const account_id = yield* AccountArgument.idOf(account)
  const assigned = (yield* SourcePools.assignments()).filter((each) => each.account_id === account_id)
  // The domain may be gone, and is then known by its id only.
  const removed = assigned.find(({ domain_id }) => domain_id === Option.getOrUndefined(domain))
  const domain_id = removed === undefined ? yield* domainId(account_id, domain) : removed.domain_id
  if (!(yield* SourcePools.unassign(account_id, domain_id)))
    return yield* Ips.refuse("It is not assigned to a pool. `waybill ips assignments` shows all.")
  return { account_id, domain: Option.getOrNull(domain), pool: null }
})

export const assignments = DataCommand.list({}, ["account_id", "account", "domain", "pool"], function* () {
  const all = yield* SourcePools.assignments()
  return all.map(({ account, account_id, domain, domain_id, pool }) => ({
    account_id,
    account,
    domain: domain_id === WHOLE_ACCOUNT ? null : (domain ?? domain_id),
    pool,
  }))
})
