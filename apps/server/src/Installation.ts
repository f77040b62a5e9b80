import * as Account from "@waybill/domain/Account"
import type { ApiKeySecret } from "@waybill/domain/ApiKeySecret"
import * as DomainName from "@waybill/domain/DomainName"
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
export const FIRST_OWNER = "owner@localhost"
/** Under a reserved name, so that a fresh install sends its first mail offline. */
export const FIRST_DOMAIN = DomainName.DomainName.make("acme.test")
/** 18 bytes are 24 characters of base64url: beyond guessing, short enough to copy by hand. */
const PASSWORD_BYTES = 18

/** Shown once, at the first start, and never again. */
export interface FirstSecrets {
  readonly key: ApiKeySecret
  readonly owner: { readonly email: string; readonly password: Redacted.Redacted }
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
  yield* Users.create({ ...owner, id: yield* newId("UserId"), account_id, role: "owner", created_at: at })
  const command = { name: "First key", scopes: ["admin" as const], domain: null, allowed_ips: [], expires_at: null }
  const { secret } = yield* Effect.orDie(createApiKey(account_id, "installation", command))
  return { key: secret, owner } satisfies FirstSecrets
})
