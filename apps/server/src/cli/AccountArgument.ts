import * as Account from "@waybill/domain/account/Account"
import * as Id from "@waybill/domain/values/Id"
import * as DomainName from "@waybill/domain/values/DomainName"
import * as DomainRefusal from "@waybill/domain/domain/DomainRefusal"
import * as Databases from "@waybill/store/routing/Databases"
import * as Domains from "@waybill/store/readmodels/Domains"
import { found } from "../web/found.ts"
import * as Accounts from "@waybill/store/readmodels/Accounts"
import { Effect, Option } from "effect"
import { CommandRefused } from "../process/CommandRefused.ts"
import * as Options from "./Options.ts"
import * as CellsLeftOut from "./CellsLeftOut.ts"

/** Flag of every command about an account. */
export const account = Options.account

/** Returns the account, or fails if the id is unknown. */
export const find = Effect.fnUntraced(function* (id: Id.AccountId) {
  return yield* found(Databases.ofAccount(id, Accounts.find(id)), () => new Account.AccountNotFound())
})

/** Returns a domain of the account by its name or id, or fails if it has none. */
export const findDomain = Effect.fnUntraced(function* (account: Id.AccountId, nameOrId: string) {
  // Normalizes capitals and international names.
  const name = DomainName.parse(nameOrId)
  const query = Domains.find(account, name._tag === "Success" ? name.success : nameOrId)
  return yield* found(Databases.ofAccount(account, query), () => new DomainRefusal.DomainNotFound())
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
