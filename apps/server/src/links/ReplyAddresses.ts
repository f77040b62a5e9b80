import * as Address from "@waybill/domain/values/Address"
import type * as Id from "@waybill/domain/values/Id"
import * as ReplyAddress from "@waybill/mail/tokens/ReplyAddress"
import { InstanceKey } from "@waybill/store/secrets/InstanceKey"
import { Effect, Option } from "effect"

const PREFIX = "acc_"

/** Derives the keys of these addresses. The first one signs, all of them verify. */
const replyKeys = Effect.map(InstanceKey, (keyring) => keyring.derive("reply"))

/** Returns the domain of an account whose addresses need no DNS of its own. */
export const ownDomainOf = (account_id: string, inboundDomain: string): string =>
  `${account_id.slice(PREFIX.length)}.${inboundDomain}`

/** Makes the address that answers to an email go to. */
export type ReplyAddressOf = (account_id: string, email_id: Id.EmailId) => Address.Address

export const addressesAt = (inboundDomain: string) =>
  Effect.map(
    replyKeys,
    ([key = new Uint8Array()]): ReplyAddressOf =>
      (account_id, email_id) =>
        `${ReplyAddress.make(key, email_id)}@${ownDomainOf(account_id, inboundDomain)}` as Address.Address,
  )

/** Returns the email that mail to one of these addresses of an account answers; none for a forged one. */
export const answeredBy = Effect.fnUntraced(function* (
  account_id: Id.AccountId,
  inboundDomain: string,
  recipients: ReadonlyArray<Address.Address>,
) {
  const own = ownDomainOf(account_id, inboundDomain)
  const made = recipients.filter((address) => Address.domainOf(address) === own)
  if (made.length === 0) return undefined
  const keys = yield* replyKeys
  return made.map((address) => ReplyAddress.verify(keys, Address.localOf(address))).find(Option.isSome)?.value
})
