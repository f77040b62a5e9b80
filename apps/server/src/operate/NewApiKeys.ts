import * as ApiKey from "@waybill/domain/account/ApiKey"
import * as ApiKeySecret from "@waybill/domain/account/ApiKeySecret"
import type { Mode } from "@waybill/domain/account/Livemode"
import type { Sha256 } from "@waybill/domain/values/Sha256"
import type { AccountId } from "@waybill/domain/values/Id"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Effect, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { hash } from "node:crypto"
import * as NewIds from "../process/NewIds.ts"

/** Returns the hash that is stored in place of a key. */
export const hashOf = (secret: string): Sha256 => hash("sha256", secret, "hex") as Sha256

/** Generates a key. Its secret is returned once and never stored. */
export const generateKey = Effect.fnUntraced(function* (createdBy: string | null, mode: Mode = "live") {
  const secret = ApiKeySecret.encode(SecureRandom.randomBytesUnsafe(ApiKeySecret.RANDOM_BYTES), mode)
  const keyId = yield* NewIds.newId("ApiKeyId")
  return { now: yield* NewIds.now, keyId, secret, hash: hashOf(secret), createdBy }
})

export const createApiKey = Effect.fn("createApiKey")(function* (
  account_id: AccountId,
  createdBy: string | null,
  command: ApiKey.Command,
) {
  const store = yield* EventStore
  const facts = yield* generateKey(createdBy, command.mode)
  const { keyId, secret } = facts
  yield* store.transact({
    account_id,
    streams: [{ aggregate: ApiKey, id: keyId, isNew: true }],
    needs: { countOf: "api_key" },
    decide: ({ facts: { countOf } }) =>
      Result.map(
        ApiKey.create({ ...facts, active: countOf(account_id, "api_key") }, command)(ApiKey.initial),
        (events) => ({
          append: [{ aggregate: ApiKey, id: keyId, events }],
          answer: undefined,
        }),
      ),
  })
  return { keyId, secret }
})
