import type { DkimKey } from "@waybill/domain/domain/DkimKey"
import type { AccountId, DomainId } from "@waybill/domain/values/Id"
import * as DkimKeyPair from "@waybill/mail/dkim/DkimKey"
import { Secrets } from "@waybill/store/secrets/Secrets"
import { Effect, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import type { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"

const NAME_BYTES = 8

const generate = { rsa: DkimKeyPair.generateRsa, ed25519: DkimKeyPair.generateEd25519 }

/** Generates a DKIM key and seals its private half, before the public one is written to the log. */
export const newDkimKey = Effect.fn("newDkimKey")(function* (
  account_id: AccountId,
  domain_id: DomainId,
  algorithm: DkimKeyPair.Algorithm,
  selector: string,
): Effect.fn.Return<DkimKey, StoreUnavailable, Secrets> {
  const secrets = yield* Secrets
  const { privateKey, record } = yield* generate[algorithm]
  // A unique name: of two rotations at once, one is decided again and must not have replaced the key of the other.
  const key_ref = `dkim:${selector}:${Buffer.from(SecureRandom.randomBytesUnsafe(NAME_BYTES)).toString("hex")}`
  yield* secrets.seal({ account_id, id: domain_id, purpose: key_ref }, Redacted.value(privateKey))
  return { selector, algorithm, public_key: record.slice(record.indexOf("p=") + 2), key_ref }
})
