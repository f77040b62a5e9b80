import { CurrentKey } from "@waybill/api/middleware/Authorization"
import * as Email from "@waybill/domain/email/Email"
import type * as DomainName from "@waybill/domain/values/DomainName"
import * as EmailRefusal from "@waybill/domain/email/EmailRefusal"
import * as Livemode from "@waybill/domain/account/Livemode"
import type * as Id from "@waybill/domain/values/Id"
import * as KeyLimits from "@waybill/domain/account/KeyLimits"
import * as ApiKeys from "@waybill/store/readmodels/ApiKeys"
import * as EmailLogQuery from "@waybill/store/search/EmailLogQuery"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Effect, Option } from "effect"
import * as NewIds from "../../process/NewIds.ts"

/** Fails if the caller's key is bound to another domain. */
export const checkDomain = Effect.fnUntraced(function* (domain: string | null) {
  const { domain: bound } = yield* CurrentKey
  if (bound !== null && domain !== bound) return yield* new KeyLimits.KeyBoundToDomain({ bound, subject: "thing" })
})

/**
 * Fails if the caller's key is bound to another domain than the message's. Called before the idempotency key is looked
 * up, so that a stored answer is not shown to such a key.
 */
export const checkEmail = Effect.fnUntraced(function* (id: Id.EmailId) {
  const { account_id, domain } = yield* CurrentKey
  if (domain === null) return
  const store = yield* EventStore
  const state = yield* store.state(Email, { account_id, stream_id: id })
  if (state._tag === "NotCreated") return yield* new EmailRefusal.EmailNotFound()
  yield* checkDomain(state.accepted.domain)
})

/** Returns the refusal of an unknown id, which says so if the account has it in its other mode. */
export const emailNotFound = Effect.fnUntraced(function* (id: Id.EmailId) {
  const { account_id, domain } = yield* CurrentKey
  const row = yield* EmailLogQuery.find(Livemode.otherAccountOf(account_id), id)
  const isThere = Option.exists(row, (email) => domain === null || email.domain === domain)
  return new EmailRefusal.EmailNotFound(isThere ? { mode: Livemode.isLive(account_id) ? "test" : "live" } : {})
})

/** Returns the domain to filter by: the requested one, or the one that the caller's key is bound to. */
export const domainFilter = Effect.fnUntraced(function* (requested: DomainName.DomainName | undefined) {
  const { domain } = yield* CurrentKey
  if (requested !== undefined) yield* checkDomain(requested)
  return requested ?? domain ?? undefined
})

/** Returns the limits of the caller, which also limit the keys it may create. A session has those of its role. */
export const current = Effect.gen(function* () {
  const { account_id, domain, key_id, scopes } = yield* CurrentKey
  if (key_id === null) return { scopes, domain, allowed_ips: [], expires_at: null } as KeyLimits.KeyLimits
  // The key has just admitted the request.
  const { allowed_ips, expires_at } = yield* Effect.orDie(
    Effect.fromOption(yield* ApiKeys.find(yield* NewIds.now, account_id, key_id)),
  )
  return { scopes, domain, allowed_ips, expires_at } as KeyLimits.KeyLimits
})
