import * as Account from "@waybill/domain/account/Account"
import * as Address from "@waybill/domain/values/Address"
import * as ApiKey from "@waybill/domain/account/ApiKey"
import type { ApiKeySecret } from "@waybill/domain/account/ApiKeySecret"
import * as DomainName from "@waybill/domain/values/DomainName"
import * as Team from "@waybill/domain/account/Team"
import * as Accounts from "@waybill/store/readmodels/Accounts"
import * as EmailLogQuery from "@waybill/store/search/EmailLogQuery"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as Users from "@waybill/store/users/Users"
import { Effect, Redacted, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { onlyUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import * as NewApiKeys from "../../operate/NewApiKeys.ts"
import * as DomainCommands from "../../operate/DomainCommands.ts"
import * as NewIds from "../../process/NewIds.ts"
import { Instance } from "../../settings/Instance.ts"

const FIRST_ACCOUNT = "My company"
/** A reserved name, so that a new installation can send its first mail offline. */
export const FIRST_DOMAIN = DomainName.DomainName.make("acme.test")
const FIRST_OWNER = Address.Address.make(`owner@${FIRST_DOMAIN}`)
const OWNER_NAME = "Owner"
/** Random bytes of the first password; 24 characters in base64url. */
const PASSWORD_BYTES = 18

/** Credentials that are printed once, at the first start. */
export interface FirstSecrets {
  readonly key: ApiKeySecret
  readonly owner: { readonly email: Address.Address; readonly password: Redacted.Redacted }
}

/** Facts for what a start says: its secrets if it is the first, and whether there is mail. */
export interface Installed {
  readonly first: FirstSecrets | undefined
  readonly hasMail: boolean
}

/**
 * Creates the first account, its owner, a test domain and an administrative key, if the log is empty. All in one commit, so
 * that an interrupted start leaves nothing behind.
 */
export const ensure = Effect.fn("Installation.ensure")(function* () {
  const accounts = yield* Accounts.all()
  // A database that does not answer may have accounts.
  if (accounts.rows.length > 0 || accounts.missing.length > 0)
    return { first: undefined, hasMail: yield* EmailLogQuery.hasAny() } satisfies Installed
  const store = yield* EventStore
  const { transport } = yield* Instance
  const at = yield* NewIds.now
  const account_id = yield* NewIds.newId("AccountId")
  const password = Redacted.make(Buffer.from(SecureRandom.randomBytesUnsafe(PASSWORD_BYTES)).toString("base64url"))
  const user_id = yield* ensureOwner(password)
  const key = yield* NewApiKeys.generateKey("installation")
  const domain = transport === "capture" ? yield* DomainCommands.addition(account_id, FIRST_DOMAIN) : undefined
  const invitation = { user_id, email: FIRST_OWNER, name: OWNER_NAME, role: "owner" as const }
  const command = { name: "First key", scopes: ["admin" as const], domain: null, allowed_ips: [], expires_at: null }
  yield* onlyUnavailable(
    store.transact({
      account_id,
      streams: [
        { aggregate: Account, id: account_id, isNew: true },
        { aggregate: Team, id: Team.STREAM_ID },
        { aggregate: ApiKey, id: key.keyId, isNew: true },
        ...(domain?.streams ?? []),
      ],
      ...(domain === undefined ? {} : { needs: domain.needs }),
      decide: (view) =>
        Result.gen(function* () {
          const account = yield* Account.create(at, account_id, FIRST_ACCOUNT, "business")(Account.initial)
          const invited = yield* Team.invite(at, invitation)(Team.initial)
          const joined = yield* Team.join(at, user_id)(invited.reduce(Team.evolve, Team.initial))
          const made = yield* ApiKey.create({ ...key, active: 0 }, command)(ApiKey.initial)
          const added = domain === undefined ? undefined : yield* domain.decide(view)
          return {
            append: [
              { aggregate: Account, id: account_id, events: account },
              { aggregate: Team, id: Team.STREAM_ID, events: [...invited, ...joined] },
              { aggregate: ApiKey, id: key.keyId, events: made },
              ...(added?.append ?? []),
            ],
            answer: undefined,
          }
        }),
    }),
  )
  return { first: { key: key.secret, owner: { email: FIRST_OWNER, password } }, hasMail: false } satisfies Installed
})

/** Creates the first owner, who is also the instance's operator, or reuses the user of an interrupted start. */
const ensureOwner = Effect.fnUntraced(function* (password: Redacted.Redacted) {
  const [existing] = yield* Users.findByEmail(FIRST_OWNER)
  const id = existing?.id ?? (yield* NewIds.newId("UserId"))
  if (existing === undefined)
    yield* Users.create({ id, email: FIRST_OWNER, name: OWNER_NAME, operator: true, created_at: yield* NewIds.now })
  yield* Users.setPassword(id, password)
  return id
})
