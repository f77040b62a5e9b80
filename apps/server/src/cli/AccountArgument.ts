import * as Account from "@waybill/domain/account/Account"
import * as Id from "@waybill/domain/values/Id"
import * as Accounts from "@waybill/store/readmodels/Accounts"
import { Effect, Option } from "effect"
import { Argument } from "effect/cli"

/** Whose: the first word of every command about an account. */
export const account = Argument.String("account").pipe(
  Argument.withDescription("The account's id, acc_…"),
  Argument.withSchema(Id.AccountId),
)

/** Of an account that is not there nothing is made and nothing listed: its id was mistyped. */
export const find = Effect.fnUntraced(function* (id: Id.AccountId) {
  const found = yield* Accounts.find(id)
  return Option.isNone(found) ? yield* new Account.AccountNotFound() : found.value
})
