import * as Account from "@waybill/domain/Account"
import * as Address from "@waybill/domain/Address"
import type { ApiKeySecret } from "@waybill/domain/ApiKeySecret"
import * as DomainName from "@waybill/domain/DomainName"
import type * as Id from "@waybill/domain/Id"
import * as Team from "@waybill/domain/Team"
import * as Accounts from "@waybill/store/Accounts"
import { EventStore } from "@waybill/store/EventStore"
import * as Users from "@waybill/store/Users"
import { Effect, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { createApiKey } from "./apiKeys.ts"
import * as domains from "./domains.ts"
import { newId, now } from "./fresh.ts"
import { Instance } from "./http/Instance.ts"

const FIRST_ACCOUNT = "My company"
/** Under a reserved name, so that a fresh install sends its first mail offline. */
export const FIRST_DOMAIN = DomainName.DomainName.make("acme.test")
const FIRST_OWNER = Address.Address.make(`owner@${FIRST_DOMAIN}`)
/** 18 bytes are 24 characters of base64url: beyond guessing, short enough to copy by hand. */
const PASSWORD_BYTES = 18

/** Shown once, at the first start, and never again. */
export interface FirstSecrets {
  readonly key: ApiKeySecret
  readonly owner: { readonly email: Address.Address; readonly password: Redacted.Redacted }
}

/** On an empty log: the first account, its owner, a domain to try things with and an administrative key. */
export const ensure = Effect.fn("Installation.ensure")(function* () {
  if ((yield* Accounts.list()).length > 0) return undefined
  const store = yield* EventStore
  const { transport } = yield* Instance
  const at = yield* now
  const account_id = yield* newId("AccountId")
  const ref = { account_id, stream_id: account_id }
  yield* Effect.orDie(store.commit(Account, ref, Account.create(at, account_id, FIRST_ACCOUNT, "business")))
  if (transport === "capture") yield* Effect.orDie(store.transact(yield* domains.addition(account_id, FIRST_DOMAIN)))
  const password = Redacted.make(Buffer.from(SecureRandom.randomBytesUnsafe(PASSWORD_BYTES)).toString("base64url"))
  const owner = { email: FIRST_OWNER, password }
  yield* createOwner(account_id, owner)
  const command = { name: "First key", scopes: ["admin" as const], domain: null, allowed_ips: [], expires_at: null }
  const { secret } = yield* Effect.orDie(createApiKey(account_id, "installation", command))
  return { key: secret, owner } satisfies FirstSecrets
})

/** Who installs the service runs it: the first owner is the instance's operator too. */
const createOwner = Effect.fnUntraced(function* (account_id: Id.AccountId, owner: FirstSecrets["owner"]) {
  const store = yield* EventStore
  const user_id = yield* newId("UserId")
  const at = yield* now
  const { email, password } = owner
  yield* Users.create({ id: user_id, email, name: "Owner", operator: true, created_at: at })
  yield* Users.setPassword(user_id, password)
  const team = { account_id, stream_id: Team.STREAM_ID }
  yield* Effect.orDie(store.commit(Team, team, Team.invite(at, { user_id, email, name: "Owner", role: "owner" })))
  yield* Effect.orDie(store.commit(Team, team, Team.join(at, user_id)))
})
