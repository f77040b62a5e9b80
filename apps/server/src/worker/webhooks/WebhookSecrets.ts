import type * as Timestamp from "@waybill/domain/values/Timestamp"
import { Secrets } from "@waybill/store/secrets/Secrets"
import * as Webhooks from "@waybill/store/readmodels/Webhooks"
import { Data, Effect, Option } from "effect"
import { SqlError } from "effect/sql"

/** Opened secrets held in memory. A secret never changes under its name, so what is here is never stale. */
export const MAX_OPENED = 1_000

/** `whsec_…`, the newest first, more while old ones still sign. */
export type SecretsOf = (
  account_id: string,
  webhook_id: string,
  signing: Webhooks.Signing,
  now: Timestamp.Timestamp,
) => Effect.Effect<ReadonlyArray<string>, Unreadable>

/** Sealed under a key that is not here, or damaged. Each try would find the same. */
export class Unreadable extends Data.TaggedError("Unreadable")<{}> {
  override message = "the signing secret cannot be opened"
}

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

  const secretsOf: SecretsOf = (account_id, webhook_id, signing, now) =>
    Effect.map(
      Effect.forEach(Webhooks.signingSecrets(signing, now), (secret_ref) => open(account_id, webhook_id, secret_ref)),
      (found) => found.flat(),
    ).pipe(
      // What the database has is one thing, and that it cannot be asked now another.
      Effect.catchDefect((defect) =>
        defect instanceof SqlError.SqlError
          ? Effect.die(defect)
          : Effect.andThen(
              Effect.logError("the signing secret of a webhook cannot be opened", defect),
              new Unreadable(),
            ),
      ),
    )
  return secretsOf
})
