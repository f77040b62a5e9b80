import type * as Timestamp from "@waybill/domain/Timestamp"
import { Secrets } from "@waybill/store/Secrets"
import type { Signing } from "@waybill/store/Webhooks"
import { Effect, Option } from "effect"

/** Opened secrets held in memory. A secret never changes under its name, so what is here is never stale. */
export const MAX_OPENED = 1_000

/** `whsec_…`, the newest first, two while an old one still signs. */
export type SecretsOf = (
  account_id: string,
  webhook_id: string,
  signing: Signing,
  now: Timestamp.Timestamp,
) => Effect.Effect<ReadonlyArray<string>>

export const make = Effect.gen(function* () {
  const secrets = yield* Secrets
  const opened = new Map<string, string>()

  const open = Effect.fnUntraced(function* (account_id: string, id: string, purpose: string) {
    const key = `${id} ${purpose}`
    const known = opened.get(key)
    if (known !== undefined) return [known]
    const bytes = yield* secrets.open({ account_id, id, purpose })
    if (Option.isNone(bytes)) return []
    const secret = Buffer.from(bytes.value).toString("utf8")
    const oldest = opened.keys().next()
    if (opened.size >= MAX_OPENED && oldest.done !== true) opened.delete(oldest.value)
    opened.set(key, secret)
    return [secret]
  })

  const secretsOf: SecretsOf = (account_id, webhook_id, { previous, secret_ref }, now) =>
    Effect.map(
      Effect.all([
        open(account_id, webhook_id, secret_ref),
        previous !== null && now < previous.until
          ? open(account_id, webhook_id, previous.secret_ref)
          : Effect.succeed([]),
      ]),
      (found) => found.flat(),
    )
  return secretsOf
})
