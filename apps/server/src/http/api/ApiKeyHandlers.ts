import { Api } from "@waybill/api/Api"
import { CurrentKey } from "@waybill/api/middleware/Authorization"
import * as ApiKey from "@waybill/domain/account/ApiKey"
import * as ApiKeySecret from "@waybill/domain/account/ApiKeySecret"
import type * as Id from "@waybill/domain/values/Id"
import * as KeyLimits from "@waybill/domain/account/KeyLimits"
import { NothingNew } from "@waybill/domain/values/Refusal"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import * as ApiKeys from "@waybill/store/readmodels/ApiKeys"
import { Provenance } from "@waybill/store/log/Provenance"
import { workOnStream } from "@waybill/store/commit/workOnStream"
import { Effect, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { HttpApiBuilder } from "effect/http-api"
import * as NewApiKeys from "../../operate/NewApiKeys.ts"
import * as NewIds from "../../process/NewIds.ts"
import * as RequestCommit from "../../accept/RequestCommit.ts"
import * as CallerReach from "../middleware/CallerReach.ts"
import * as Records from "../../web/Records.ts"
import { found } from "../../web/found.ts"
import * as Handlers from "../middleware/Handlers.ts"

export const ApiKeyHandlers = HttpApiBuilder.group(Api, "apiKeys", (handlers) =>
  handlers.handleAll({
    list: Handlers.withKey(function* ({ account_id, domain: bound }) {
      const keys = yield* ApiKeys.list(yield* NewIds.now, account_id)
      const visible = keys.filter(({ domain }) => bound === null || domain === bound)
      return Records.completeList(visible)
    }),
    get: ({ params }) => find(params.key_id),
    create: (call) => create(call),
    revoke: ({ params }) =>
      Effect.andThen(
        find(params.key_id),
        RequestCommit.commitRepeatable(workOnStream(ApiKey, params.key_id, revoke, revoked(params.key_id))),
      ),
  }),
)

/** Finds a key of the account; a bound key finds only keys of its domain. */
const find = Effect.fnUntraced(function* (id: Id.ApiKeyId) {
  const { account_id } = yield* CurrentKey
  const key = yield* found(ApiKeys.find(yield* NewIds.now, account_id, id), () => new ApiKey.KeyNotFound())
  yield* CallerReach.checkDomain(key.domain)
  return key
})

/** Creates a key. Its secret is shown in this answer only. */
const create = Effect.fnUntraced(function* (call: Handlers.EndpointCall<"apiKeys", "create">) {
  const { actor } = yield* Provenance
  const { account_id } = yield* CurrentKey
  const { mode, test_clock, ...others } = call.payload
  const requested = {
    ...others,
    allowed_ips: call.payload.allowed_ips ?? [],
    ...(mode === "test" ? { mode } : {}),
    ...(test_clock === null ? {} : { test_clock }),
  }
  const command = yield* Effect.fromResult(KeyLimits.limitsOfNewKey(yield* CallerReach.current, requested))
  const keyId = yield* NewIds.newId("ApiKeyId")
  const secret = ApiKeySecret.encode(SecureRandom.randomBytesUnsafe(ApiKeySecret.RANDOM_BYTES), mode ?? "live")
  const facts = { keyId, secret, hash: NewApiKeys.hashOf(secret), createdBy: actor.id }
  return yield* RequestCommit.commit(
    // The idempotency fingerprint covers the key as created, including limits that it inherits from the caller.
    { ...call, payload: command },
    Effect.succeed(
      workOnStream(
        ApiKey,
        keyId,
        (now, view) => {
          const hasClock = test_clock !== null && view.facts.clock(account_id, test_clock)?.removed === false
          return ApiKey.create({ ...facts, now, active: view.facts.countOf(account_id, "api_key"), hasClock }, command)
        },
        (state) => recordWithSecret(state, secret),
        { isNew: true, needs: { countOf: "api_key", ...(test_clock === null ? {} : { clocks: [test_clock] }) } },
      ),
    ),
    RequestCommit.SEALED,
  )
})

const recordWithSecret = (state: ApiKey.State, key: string) => {
  if (state._tag === "NotCreated") throw new Error("a key that was just made is not there")
  const { allowed_ips, at, created_by, domain, expires_at, key_id, name, prefix, scopes } = state.created
  return {
    object: "api_key" as const,
    id: key_id,
    name,
    prefix,
    mode: ApiKey.modeOf(state.created),
    test_clock: ApiKey.clockOf(state.created) ?? null,
    scopes,
    domain,
    allowed_ips,
    status: "active" as const,
    created_at: at,
    created_by,
    last_used_at: null,
    expires_at,
    revoked_at: null,
    key,
  }
}

/** Revoking a revoked key succeeds. */
const revoke = (now: Timestamp.Timestamp) => (state: ApiKey.State) =>
  Result.mapError(ApiKey.revoke(now)(state), (refusal) =>
    refusal._tag === "AlreadyRevoked" ? new NothingNew() : refusal,
  )

const revoked = (id: Id.ApiKeyId) => (state: ApiKey.State) => {
  if (state._tag === "NotCreated" || state.revoked_at === null) throw new Error("revoked a key that does not exist")
  return { object: "api_key" as const, id, revoked: true as const, revoked_at: state.revoked_at }
}
