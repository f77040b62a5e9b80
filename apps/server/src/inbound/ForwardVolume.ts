import * as Livemode from "@waybill/domain/account/Livemode"
import type * as Id from "@waybill/domain/values/Id"
import * as RateWindows from "@waybill/store/admission/RateWindows"
import * as Accounts from "@waybill/store/readmodels/Accounts"
import * as Databases from "@waybill/store/routing/Databases"
import { Effect, Option } from "effect"

/** Percent of the monthly volume that mail of strangers may take of an account on a UTC day. */
export const MAX_PERCENT_PER_DAY = 10

/** Takes addresses of forwards from the volume of this UTC day. Returns false if so much is not left, and takes nothing then. */
export const take = Effect.fn("ForwardVolume.take")(function* (account_id: Id.AccountId, addresses: number) {
  if (!Livemode.isLive(account_id)) return true
  const account = Option.getOrUndefined(yield* Databases.ofAccount(account_id, Accounts.find(account_id)))
  const monthly = account?.limits.monthly_emails ?? null
  if (monthly === null) return true
  const limit = Math.ceil((monthly * MAX_PERCENT_PER_DAY) / 100)
  const taking = RateWindows.takeOfDay(`${account_id}/forwards`, addresses, limit)
  return (yield* Databases.ofAccount(account_id, taking)) === undefined
})
