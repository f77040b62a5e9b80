import { Api } from "@waybill/api/Api"
import { CurrentKey } from "@waybill/api/middleware/Authorization"
import type { WebhookRecord } from "@waybill/api/groups/Webhooks"
import * as Webhook from "@waybill/domain/webhook/Webhook"
import * as WebhookFormat from "@waybill/domain/webhook/WebhookFormat"
import * as WebhookUrl from "@waybill/domain/webhook/WebhookUrl"
import { Secrets } from "@waybill/store/secrets/Secrets"
import * as AccountCounts from "@waybill/store/facts/AccountCounts"
import type { View } from "@waybill/store/commit/Commit"
import * as Webhooks from "@waybill/store/readmodels/Webhooks"
import type * as Id from "@waybill/domain/values/Id"
import { workOnStream } from "@waybill/store/commit/workOnStream"
import { Effect, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { HttpApiBuilder } from "effect/http-api"
import * as NewIds from "../../process/NewIds.ts"
import * as RequestCommit from "../../accept/RequestCommit.ts"
import * as EventSignature from "../../worker/webhooks/EventSignature.ts"
import * as DeliveryHandlers from "./DeliveryHandlers.ts"
import { Instance } from "../../settings/Instance.ts"
import * as Records from "../../web/Records.ts"
import { found } from "../../web/found.ts"
import * as Handlers from "../middleware/Handlers.ts"

/** Standard Webhooks requires 24 to 64 bytes. */
const SECRET_BYTES = 32
const SECRET_PREFIX = "whsec_"
const NAME_BYTES = 8

export const WebhookHandlers = HttpApiBuilder.group(Api, "webhooks", (handlers) =>
  handlers.handleAll({
    list: Handlers.withKey(function* ({ account_id }) {
      const records = yield* Effect.forEach(yield* Webhooks.list(account_id), withPublicKey)
      return Records.completeList(records)
    }),
    get: Handlers.withKey(function* ({ account_id }, { params }) {
      const webhook = found(Webhooks.find(account_id, params.id), () => new Webhook.WebhookNotFound())
      return yield* withPublicKey(yield* webhook)
    }),
    create: Handlers.commits(function* ({ account_id }, call) {
      const { allowedNetworks } = yield* Instance
      yield* checkLimit(call, account_id)
      const webhookId = yield* NewIds.newId("WebhookId")
      const { secret, secretRef } = yield* newSecret(webhookId)
      const { enabled, url, ...rest } = call.payload
      const password = yield* sealPassword(webhookId, url)
      const settings = {
        ...rest,
        url: WebhookUrl.hidden(url),
        ...(password === undefined ? {} : { password_ref: password.ref }),
      }
      const create = (now: Webhook.Creation["now"], { facts }: View) => {
        const others = facts.countOf(account_id, "webhook")
        return Webhook.create({ now, webhookId, secretRef, allowedNetworks, others }, settings, enabled ?? true)
      }
      const answer = (state: Webhook.State) => withSecret(recordOf(state), secret)
      return workOnStream(Webhook, webhookId, create, answer, { isNew: true, needs: { countOf: "webhook" } })
    }, RequestCommit.SEALED),
    update: Handlers.withKey(function* ({ account_id }, { params, payload }) {
      const { allowedNetworks } = yield* Instance
      const { url, ...rest } = payload
      // Checked before a password is stored for a webhook that does not exist.
      if (url !== undefined && Option.isNone(yield* Webhooks.find(account_id, params.id)))
        return yield* new Webhook.WebhookNotFound()
      const login =
        url === undefined ? {} : { url: WebhookUrl.hidden(url), password: yield* sealPassword(params.id, url) }
      const update = (now: Webhook.Creation["now"]) => Webhook.update(now, { ...rest, ...login }, allowedNetworks)
      const updated = yield* RequestCommit.commitRepeatable(workOnStream(Webhook, params.id, update, recordOf))
      return yield* withPublicKey(updated)
    }),
    remove: ({ params }) => Handlers.remove("webhook", Webhook, params.id, Webhook.remove),
    rotateSecret: Handlers.commits(function* ({ account_id }, call) {
      const { id } = call.params
      // Checked before a secret is stored for a webhook that does not exist.
      if (Option.isNone(yield* Webhooks.find(account_id, id))) return yield* new Webhook.WebhookNotFound()
      const { secret, secretRef } = yield* newSecret(id)
      return workOnStream(
        Webhook,
        id,
        (now) => Webhook.rotateSecret(now, secretRef),
        (state) => withSecret(recordOf(state), secret),
      )
    }, RequestCommit.SEALED),
    test: DeliveryHandlers.test,
    deliveries: DeliveryHandlers.list,
    delivery: DeliveryHandlers.get,
    replayDelivery: DeliveryHandlers.replay,
    replay: DeliveryHandlers.replayRange,
  }),
)

/** Checked before a secret is stored in vain; the commit checks again. */
const checkLimit = Effect.fnUntraced(function* (call: RequestCommit.Call, account_id: Id.AccountId) {
  if (call.headers?.["idempotency-key"] !== undefined) return
  if ((yield* AccountCounts.count(account_id, "webhook", yield* NewIds.now)) >= Webhook.MAX_WEBHOOKS)
    return yield* new Webhook.TooManyWebhooks()
})

/**
 * Stores a new secret under a name of its own before the event refers to it, so that a name never stands for two
 * secrets.
 */
const newSecret = Effect.fnUntraced(function* (webhook_id: Id.WebhookId) {
  const secrets = yield* Secrets
  const { account_id } = yield* CurrentKey
  const secret = SECRET_PREFIX + Buffer.from(SecureRandom.randomBytesUnsafe(SECRET_BYTES)).toString("base64")
  const secretRef = `signing:${Buffer.from(SecureRandom.randomBytesUnsafe(NAME_BYTES)).toString("hex")}`
  yield* secrets.seal({ account_id, id: webhook_id, purpose: secretRef }, Buffer.from(secret, "utf8"))
  return { secret, secretRef }
})

/** Stores the password of a URL, as a secret is stored. */
const sealPassword = Effect.fnUntraced(function* (webhook_id: Id.WebhookId, url: WebhookUrl.WebhookUrl) {
  const login = WebhookUrl.loginOf(url)
  if (login === undefined) return undefined
  const ref = `password:${Buffer.from(SecureRandom.randomBytesUnsafe(NAME_BYTES)).toString("hex")}`
  const { account_id } = yield* CurrentKey
  const secrets = yield* Secrets
  yield* secrets.seal({ account_id, id: webhook_id, purpose: ref }, Buffer.from(login.password, "utf8"))
  return { ref, isHidden: login.password === WebhookUrl.HIDDEN }
})

/** A webhook without its key, which no event says. */
type Keyless = Omit<WebhookRecord, "public_key">

const withSecret = (record: Keyless, secret: string) => ({
  ...record,
  public_key: WebhookFormat.hasEcdsa(record.format) ? EventSignature.publicKeyOf(secret) : null,
  secret,
})

/** Returns a webhook with the key that verifies the signatures of its newest secret, if its format has such. */
const withPublicKey = Effect.fnUntraced(function* <A extends Pick<Keyless, "format"> & { readonly id: string }>(
  record: A,
) {
  if (!WebhookFormat.hasEcdsa(record.format)) return { ...record, public_key: null }
  const { account_id } = yield* CurrentKey
  const purpose = yield* Webhooks.secretRef(account_id, record.id)
  const secret = purpose === null ? Option.none() : yield* (yield* Secrets).open({ account_id, id: record.id, purpose })
  const public_key = Option.map(secret, (bytes) => EventSignature.publicKeyOf(Buffer.from(bytes).toString("utf8")))
  return { ...record, public_key: Option.getOrNull(public_key) }
})

const recordOf = (state: Webhook.State): Keyless => {
  if (state._tag !== "Webhook") throw new Error("decided about a webhook that does not exist")
  return Webhooks.recordOf(state)
}
