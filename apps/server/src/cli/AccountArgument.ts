import * as Account from "@waybill/domain/account/Account"
import * as Id from "@waybill/domain/values/Id"
import * as Databases from "@waybill/store/routing/Databases"
import * as Accounts from "@waybill/store/readmodels/Accounts"
import { Effect, Option } from "effect"
import { CommandRefused } from "../process/CommandRefused.ts"
import * as Options from "./Options.ts"
import * as CellsLeftOut from "./CellsLeftOut.ts"

/** Flag of every command about an account. */
export const account = Options.account

/** Returns the account, or fails if the id is unknown. */
export const find = Effect.fnUntraced(function* (id: Id.AccountId) {
  const account = yield* Databases.ofAccount(id, Accounts.find(id))
  return Option.isNone(account) ? yield* new Account.AccountNotFound() : account.value
})

/** Returns the id that is named, or else that of the only account. Fails if it is unknown, or if there are several. */
export const idOf = Effect.fnUntraced(function* (named: Option.Option<Id.AccountId>) {
  if (Option.isSome(named)) return (yield* Effect.as(find(named.value), named)).value
  const { missing, rows: accounts } = yield* Accounts.all()
  const [only] = accounts
  if (missing.length > 0 && accounts.length < 2)
    return yield* new CommandRefused({ message: CellsLeftOut.after("Name the account with --account.", missing) })
  if (only !== undefined && accounts.length === 1) return Id.AccountId.make(only.id)
  return yield* new CommandRefused({
    message:
      only === undefined
        ? "There is no account yet. `waybill accounts create NAME` makes one."
        : `There are ${accounts.length} accounts. Name one with --account; \`waybill accounts list\` shows their ids.`,
  })
})
