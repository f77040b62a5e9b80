import * as Account from "@waybill/domain/account/Account"
import * as ApiKey from "@waybill/domain/account/ApiKey"
import * as ApiKeySecret from "@waybill/domain/account/ApiKeySecret"
import type { Sha256 } from "@waybill/domain/values/Sha256"
import * as Id from "@waybill/domain/values/Id"
import type * as Network from "@waybill/domain/values/Network"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Effect } from "effect"
import { createHash, randomBytes } from "node:crypto"

const NOW = Timestamp.fromMillis(Date.UTC(2026, 10, 21, 12, 0, 0))
const id = <Name extends Parameters<typeof Id.make>[0]>(name: Name) => Id.make(name, Date.now(), randomBytes(10))

export const account = Effect.gen(function* () {
  const store = yield* EventStore
  const account_id = id("AccountId")
  yield* Effect.orDie(
    store.commit(Account, { account_id, stream_id: account_id }, Account.create(NOW, account_id, "Acme", "free")),
  )
  return account_id
})

export interface NewKey {
  readonly allowed_ips?: ReadonlyArray<string>
  readonly expires_at?: Timestamp.Timestamp
}

export const key = Effect.fnUntraced(function* (account_id: Id.AccountId, options: NewKey = {}) {
  const store = yield* EventStore
  const keyId = id("ApiKeyId")
  const secret = ApiKeySecret.encode(randomBytes(ApiKeySecret.RANDOM_BYTES))
  const hash = createHash("sha256").update(secret).digest("hex") as Sha256
  const command: ApiKey.Command = {
    name: "test",
    scopes: ["email:send"],
    domain: null,
    allowed_ips: (options.allowed_ips ?? []) as ReadonlyArray<Network.Network>,
    expires_at: options.expires_at ?? null,
  }
  yield* Effect.orDie(
    store.commit(
      ApiKey,
      { account_id, stream_id: keyId },
      ApiKey.create({ now: NOW, keyId, secret, hash, createdBy: null, active: 0 }, command),
    ),
  )
  return { id: keyId, hash, account_id }
})

export const revoke = Effect.fnUntraced(function* (of: {
  readonly id: Id.ApiKeyId
  readonly account_id: Id.AccountId
}) {
  const store = yield* EventStore
  yield* Effect.orDie(store.commit(ApiKey, { account_id: of.account_id, stream_id: of.id }, ApiKey.revoke(NOW)))
})
