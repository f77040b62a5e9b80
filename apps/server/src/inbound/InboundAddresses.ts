import type { LruCache } from "@waybill/runtime/collections/LruCache"
import * as Address from "@waybill/domain/values/Address"
import * as DomainName from "@waybill/domain/values/DomainName"
import * as Id from "@waybill/domain/values/Id"
import * as Accounts from "@waybill/store/readmodels/Accounts"
import * as Domains from "@waybill/store/readmodels/Domains"
import * as Databases from "@waybill/store/routing/Databases"
import * as MonotonicClock from "@waybill/runtime/flow/MonotonicClock"
import { Duration, Effect, Option, Result, Schema } from "effect"
import { Instance } from "../settings/Instance.ts"

/** A recipient that receives mail here, and whose mail it is. */
export interface Receiver {
  readonly address: Address.Address
  readonly account_id: Id.AccountId
}

const isAccountId = Schema.is(Id.AccountId)
const PREFIX = "acc_"

/** Accounts in which receiving domains were found last, and when, so that not all databases are asked for each mail. */
export type KnownReceivers = LruCache<string, { readonly account_id: Id.AccountId; readonly at: number }>

/** How long a known receiver is used without asking whether an account in another database verified the domain before. */
const KNOWN_FOR = Duration.minutes(1)

/**
 * Finds the account that an address belongs to: by the account's own domain below `inboundDomain`, or as a domain that
 * receives. A reserved domain receives as soon as it is added, while mail is only captured.
 */
export const finder = (known?: KnownReceivers) =>
  Effect.fn("InboundAddresses.find")(function* (text: string) {
    const parsed = Address.parseAddress(text)
    if (Result.isFailure(parsed) || text.startsWith('"')) return Option.none<Receiver>()
    const address = parsed.success
    const { inboundDomain, transport } = yield* Instance
    const domain = Address.domainOf(address)
    if (domain.endsWith(`.${inboundDomain}`)) {
      const account = yield* withToken(domain.slice(0, -inboundDomain.length - 1))
      return Option.map(account, (account_id): Receiver => ({ address, account_id }))
    }
    const anyway = transport === "capture" && DomainName.isReserved(domain)
    const before = known?.get(domain)
    const now = yield* MonotonicClock.millis
    const isFresh = before !== undefined && now - before.at < Duration.toMillis(KNOWN_FOR)
    const account = yield* Domains.receiver(domain, anyway, before && { account_id: before.account_id, isFresh })
    if (Option.isSome(account) && !isFresh) known?.set(domain, { account_id: account.value, at: now })
    return Option.map(account, (account_id): Receiver => ({ address, account_id }))
  })

export type Find = ReturnType<typeof finder>

export const find = finder()

const withToken = Effect.fnUntraced(function* (token: string) {
  const id = `${PREFIX}${token}`
  if (!isAccountId(id)) return Option.none<Id.AccountId>()
  return Option.map(yield* Databases.ofAccount(id, Accounts.find(id)), () => id)
})
