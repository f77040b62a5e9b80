import { Api } from "@waybill/api/Api"
import { CurrentKey } from "@waybill/api/Authorization"
import type { WebhookRecord } from "@waybill/api/Webhooks"
import * as Webhook from "@waybill/domain/Webhook"
import { Secrets } from "@waybill/store/Secrets"
import * as Webhooks from "@waybill/store/Webhooks"
import type * as Id from "@waybill/domain/Id"
import { Effect, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { HttpApiBuilder } from "effect/http-api"
import { newId } from "../fresh.ts"
import { about, commit, onceSealed } from "./commit.ts"
import * as deliveries from "./deliveries.ts"
import { Instance } from "./Instance.ts"
import { asWritten, whole } from "./records.ts"

/** Standard Webhooks asks for 24 to 64. */
const SECRET_BYTES = 32
const SECRET_MARK = "whsec_"
const NAME_BYTES = 8

export const WebhooksLive = HttpApiBuilder.group(Api, "webhooks", (handlers) =>
  handlers.handleAll({
    list: () =>
      Effect.gen(function* () {
        const { account_id } = yield* CurrentKey
        return whole((yield* Webhooks.list(account_id)).map(asWritten<WebhookRecord>))
      }),
    get: ({ params }) =>
      Effect.gen(function* () {
        const { account_id } = yield* CurrentKey
        const found = yield* Webhooks.find(account_id, params.id)
        return asWritten<WebhookRecord>(
          yield* Effect.mapError(Effect.fromOption(found), () => new Webhook.WebhookNotFound()),
        )
      }),
    create: (call) =>
      onceSealed(
        call,
        Effect.gen(function* () {
          const { allowedNetworks } = yield* Instance
          const webhookId = yield* newId("WebhookId")
          const { secret, secretRef } = yield* newSecret(webhookId)
          const { enabled, ...settings } = call.payload
          const create = (now: Webhook.Creation["now"]) =>
            Webhook.create({ now, webhookId, secretRef, allowedNetworks }, settings, enabled ?? true)
          return about(Webhook, webhookId, create, (state) => ({ ...recordOf(state), secret }), { fresh: true })
        }),
      ),
    update: ({ params, payload }) =>
      Effect.flatMap(Instance, ({ allowedNetworks }) =>
        commit(about(Webhook, params.id, (now) => Webhook.update(now, payload, allowedNetworks), recordOf)),
      ),
    remove: ({ params }) =>
      commit(
        about(Webhook, params.id, Webhook.remove, () => ({
          object: "webhook" as const,
          id: params.id,
          deleted: true as const,
        })),
      ),
    rotateSecret: (call) =>
      onceSealed(
        call,
        Effect.gen(function* () {
          const { id } = call.params
          const { account_id } = yield* CurrentKey
          // A secret is sealed only for a webhook that is there.
          if (Option.isNone(yield* Webhooks.find(account_id, id))) return yield* new Webhook.WebhookNotFound()
          const { secret, secretRef } = yield* newSecret(id)
          return about(
            Webhook,
            id,
            (now) => Webhook.rotateSecret(now, secretRef),
            (state) => ({ ...recordOf(state), secret }),
          )
        }),
      ),
    test: deliveries.test,
    deliveries: deliveries.list,
    delivery: deliveries.get,
    replayDelivery: deliveries.replay,
    replay: deliveries.replayRange,
  }),
)

/** Sealed under a name of its own before the log learns of it, so that a name never means two secrets. */
const newSecret = Effect.fnUntraced(function* (webhook_id: Id.WebhookId) {
  const secrets = yield* Secrets
  const { account_id } = yield* CurrentKey
  const secret = SECRET_MARK + Buffer.from(SecureRandom.randomBytesUnsafe(SECRET_BYTES)).toString("base64")
  const secretRef = `signing:${Buffer.from(SecureRandom.randomBytesUnsafe(NAME_BYTES)).toString("hex")}`
  yield* secrets.seal({ account_id, id: webhook_id, purpose: secretRef }, Buffer.from(secret, "utf8"))
  return { secret, secretRef }
})

const recordOf = (state: Webhook.State): WebhookRecord => {
  if (state._tag !== "Webhook") throw new Error("decided about a webhook that does not exist")
  const { created_at, description, disabled_reason, enabled, events, updated_at, url, webhook_id } = state
  return {
    object: "webhook",
    id: webhook_id,
    url,
    events,
    description,
    enabled,
    disabled_reason,
    created_at,
    updated_at,
  }
}
