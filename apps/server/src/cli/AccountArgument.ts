import * as Account from "@waybill/domain/account/Account"
import * as Id from "@waybill/domain/values/Id"
import * as Accounts from "@waybill/store/readmodels/Accounts"
import { Effect, Option } from "effect"
import { Argument } from "effect/cli"

/** First argument of every command about an account. */
export const account = Argument.String("account").pipe(
  Argument.withDescription("Account id, acc_…"),
  Argument.withSchema(Id.AccountId),
)

/** Returns the account, or fails if the id is unknown. */
export const find = Effect.fnUntraced(function* (id: Id.AccountId) {
  const account = yield* Accounts.find(id)
  return Option.isNone(account) ? yield* new Account.AccountNotFound() : account.value
})
