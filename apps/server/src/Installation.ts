import * as Account from "@waybill/domain/Account"
import type { ApiKeySecret } from "@waybill/domain/ApiKeySecret"
import * as Accounts from "@waybill/store/Accounts"
import { EventStore } from "@waybill/store/EventStore"
import * as Users from "@waybill/store/Users"
import { Effect, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { createApiKey } from "./apiKeys.ts"
import { newId, now } from "./fresh.ts"

const FIRST_ACCOUNT = "My company"
export const FIRST_OWNER = "owner@localhost"
/** 18 bytes are 24 characters of base64url: beyond guessing, short enough to copy by hand. */
const PASSWORD_BYTES = 18

/** Shown once, at the first start, and never again. */
export interface FirstSecrets {
  readonly account_id: Account.Account["account_id"]
  readonly key: ApiKeySecret
  readonly owner: { readonly email: string; readonly password: Redacted.Redacted }
}

/** On an empty log: the first account, its owner and an administrative key. On any other: nothing. */
export const ensure = Effect.fn("Installation.ensure")(function* () {
  if ((yield* Accounts.list()).length > 0) return undefined
  const store = yield* EventStore
  const at = yield* now
  const account_id = yield* newId("AccountId")
  yield* store.commit(
    Account,
    { account_id, stream_id: account_id },
    Account.create(at, account_id, FIRST_ACCOUNT, "business"),
  )
  const password = Redacted.make(Buffer.from(SecureRandom.randomBytesUnsafe(PASSWORD_BYTES)).toString("base64url"))
  const owner = { email: FIRST_OWNER, password }
  yield* Users.create({ ...owner, id: yield* newId("UserId"), account_id, role: "owner", created_at: at })
  const { secret } = yield* createApiKey(account_id, "installation", {
    name: "First key",
    scopes: ["admin"],
    domain: null,
    allowed_ips: [],
    expires_at: null,
  })
  return { account_id, key: secret, owner } satisfies FirstSecrets
})
