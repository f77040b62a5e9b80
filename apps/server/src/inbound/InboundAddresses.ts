import * as Address from "@waybill/domain/values/Address"
import * as DomainName from "@waybill/domain/values/DomainName"
import * as Id from "@waybill/domain/values/Id"
import * as Accounts from "@waybill/store/readmodels/Accounts"
import * as Domains from "@waybill/store/readmodels/Domains"
import * as Cells from "@waybill/store/routing/Cells"
import { Effect, Option, Result, Schema } from "effect"
import { Instance } from "../settings/Instance.ts"

/** A recipient that receives mail here, and whose mail it is. */
export interface Receiver {
  readonly address: Address.Address
  readonly account_id: Id.AccountId
}

const isAccountId = Schema.is(Id.AccountId)
const PREFIX = "acc_"

/**
 * Finds the account that an address belongs to: by the account's own domain below `inboundDomain`, or as a domain that
 * receives. A reserved domain receives as soon as it is added, while mail is only captured.
 */
export const find = Effect.fn("InboundAddresses.find")(function* (text: string) {
  const parsed = Address.parseAddress(text)
  if (Result.isFailure(parsed)) return Option.none<Receiver>()
  const address = parsed.success
  const { inboundDomain, transport } = yield* Instance
  const domain = Address.domainOf(address)
  const account = domain.endsWith(`.${inboundDomain}`)
    ? yield* withToken(domain.slice(0, -inboundDomain.length - 1))
    : yield* Domains.receiver(domain, transport === "capture" && DomainName.isReserved(domain))
  return Option.map(account, (account_id): Receiver => ({ address, account_id }))
})

const withToken = Effect.fnUntraced(function* (token: string) {
  const id = `${PREFIX}${token}`
  if (!isAccountId(id)) return Option.none<Id.AccountId>()
  return Option.map(yield* Cells.inCellOf(id, Accounts.find(id)), () => id)
})
