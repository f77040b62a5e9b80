import { LruCache } from "@waybill/runtime/collections/LruCache"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Webhook from "@waybill/domain/webhook/Webhook"
import { Secrets } from "@waybill/store/secrets/Secrets"
import type * as Webhooks from "@waybill/store/readmodels/Webhooks"
import { Data, Effect, Option } from "effect"
import type { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"

/** Maximum number of opened secrets kept in memory. A secret never changes under its name, so none becomes stale. */
export const MAX_OPENED = 1_000

/** The secrets that a call needs. */
export interface Opened {
  /** Its signing secrets, `whsec_…`: the newest first, and older ones while they still sign. */
  readonly secrets: ReadonlyArray<string>
  /** The password of its URL; undefined if that has none. */
  readonly password: string | undefined
}

/** Opens the secrets of a webhook. */
export type SecretsOf = (
  account_id: string,
  webhook_id: string,
  signing: Webhooks.Signing,
  now: Timestamp.Timestamp,
) => Effect.Effect<Opened, Unreadable | StoreUnavailable>

/** A secret that is damaged, or sealed under a key that this instance does not have. */
export class Unreadable extends Data.TaggedError("Unreadable")<{ readonly secret: string }> {
  override get message() {
    return `the ${this.secret} cannot be opened`
  }
}

export const make = Effect.gen(function* () {
  const secrets = yield* Secrets
  const opened = new LruCache<string, string>({ maxEntries: MAX_OPENED })

  const open = Effect.fnUntraced(function* (account_id: string, id: string, purpose: string) {
    const key = `${id} ${purpose}`
    const cached = opened.get(key)
    if (cached !== undefined) return [cached]
    const bytes = yield* secrets.open({ account_id, id, purpose })
    if (Option.isNone(bytes)) return []
    const secret = Buffer.from(bytes.value).toString("utf8")
    opened.set(key, secret)
    return [secret]
  })

  const secretsOf: SecretsOf = (account_id, webhook_id, signing, now) =>
    Effect.gen(function* () {
      const refs = Webhook.signingSecrets(signing, now)
      const each = yield* Effect.forEach(refs, (secret_ref) => open(account_id, webhook_id, secret_ref))
      const { password_ref } = signing
      if (password_ref === undefined) return { secrets: each.flat(), password: undefined }
      const [password] = yield* open(account_id, webhook_id, password_ref)
      return { secrets: each.flat(), password: password ?? (yield* new Unreadable({ secret: "password of the URL" })) }
    }).pipe(
      Effect.catchDefect((defect) =>
        Effect.andThen(
          Effect.logError("signing secret of a webhook cannot be opened; its calls fail", { webhook_id }, defect),
          new Unreadable({ secret: "signing secret" }),
        ),
      ),
    )
  return secretsOf
})
